"""Mistakes in scaling, projections and dropout, and in what torch's own layers take a mask for."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.analysis.traps import Outcome, compare_matrices, error_message, largest_gap, picture
from attnviz.analysis.word_vectors import WIDTH, Sentence
from attnviz.base.message import Message
from attnviz.core import masks
from attnviz.core.modules import seeded_generator


# // where / was meant.
def wrong_floor_division(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.T // math.sqrt(q.shape[-1])).softmax(-1)  # rounds every score down


def right_floor_division(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)


def catch_training_error(q: Tensor, k: Tensor) -> str:
    """PyTorch's error message when a gradient has to pass through `//`."""
    return error_message(lambda: wrong_floor_division(q.clone().requires_grad_(), k)[:, 0].sum().backward())


def run_floor_division(s: Sentence) -> Outcome:
    bad, good = wrong_floor_division(s.q, s.k), right_floor_division(s.q, s.k)
    floored = s.q @ s.k.T // math.sqrt(s.q.shape[-1])
    return compare_matrices(
        bad,
        good,
        s.words,
        Message(
            "{n} {n:score is|scores are} left with {distinct} {distinct:value, a whole number|different values, all "
            "whole numbers}.",
            {"n": floored.numel(), "distinct": int(floored.unique().numel())},
        ),
        Message("A training step stops with: {error}.", {"error": catch_training_error(s.q, s.k)}),
    )


# nn.Linear keeps its weight as (out, in).
def wrong_linear_weight(x: Tensor, q_proj: nn.Linear, k_proj: nn.Linear) -> Tensor:
    q, k = x @ q_proj.weight, x @ k_proj.weight  # (out, in): transposed
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)


def right_linear_weight(x: Tensor, q_proj: nn.Linear, k_proj: nn.Linear) -> Tensor:
    q, k = x @ q_proj.weight.T, x @ k_proj.weight.T  # the same as q_proj(x), k_proj(x)
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)


@torch.no_grad()
def run_linear_weight(s: Sentence) -> Outcome:
    q_proj, k_proj = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
    q_proj.weight.copy_(s.w_q.T)
    k_proj.weight.copy_(s.w_k.T)
    bad, good = wrong_linear_weight(s.x, q_proj, k_proj), right_linear_weight(s.x, q_proj, k_proj)
    wide = nn.Linear(WIDTH, 2 * WIDTH)
    return compare_matrices(
        bad,
        good,
        s.words,
        Message(
            "The matrix is square ({m} × {m}), so nothing fails, and other scores come out. "
            "nn.Linear({m}, {wide}).weight has shape {shape}: there, x @ weight stops with an error.",
            {"m": WIDTH, "wide": 2 * WIDTH, "shape": tuple(wide.weight.shape)},
        ),
    )


SHARE = 0.3


# Dropout still on in evaluation.
class WrongDropoutInEval(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        # not a module, so model.eval() does not reach it
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.p)


class RightDropoutInEval(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0)


def run_dropout_in_eval(s: Sentence) -> Outcome:
    bad, good = WrongDropoutInEval(SHARE).eval(), RightDropoutInEval(SHARE).eval()
    values = torch.eye(len(s))  # with the identity as values, the output is the weights
    with seeded_generator(s.seed):
        first, second = bad(s.q, s.k, values), bad(s.q, s.k, values)
    steady = good(s.q, s.k, values)
    return compare_matrices(
        first,
        steady,
        s.words,
        _describe_remaining_weights(first),
        Message(
            "The same sentence asked twice differs by up to {gap:.3f}; the right code by {none:.0f}.",
            {"gap": largest_gap(first, second), "none": largest_gap(steady, good(s.q, s.k, values))},
        ),
    )


def _describe_remaining_weights(weights: Tensor) -> Message:
    """How many weights dropout has set to zero, and what that does to the rows."""
    zeros, n = int((weights == 0).sum()), weights.numel()
    if zeros == n:
        return Message("In evaluation mode, with p = {p}, every weight is zero, and so is the output.", {"p": SHARE})
    sums, factor = weights.sum(-1), 1 / (1 - SHARE)
    params = {"p": SHARE, "zeros": zeros, "n": n, "factor": factor}
    if zeros == 0:
        return Message(
            "In evaluation mode, with p = {p}: this time no weight is zero, and all are {factor:.2f} times too large.",
            params,
        )
    return Message(
        "In evaluation mode, with p = {p}: {zeros} of {n} {n:weight|weights} {zeros:is|are} zero and the others are "
        "{factor:.2f} times too large; rows sum to between {low:.2f} and {high:.2f}.",
        params | {"low": float(sums.min()), "high": float(sums.max())},
    )


# Projections that are built and never applied.
class WrongUnusedProjections(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = x, x, x  # the projections were meant here
        weights = (q @ k.mT / math.sqrt(x.shape[-1])).softmax(-1)
        return weights @ v, weights


class RightUnusedProjections(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        weights = (q @ k.mT / math.sqrt(x.shape[-1])).softmax(-1)
        return weights @ v, weights


def count_without_gradient(module: nn.Module, x: Tensor) -> int:
    """Number of parameters without a gradient after a backward pass; 0 for the right module."""
    module.zero_grad()
    module(x.clone().requires_grad_())[0].sum().backward()
    return sum(parameter.grad is None for parameter in module.parameters())


def build_with_weights(s: Sentence, kind: type[nn.Module]) -> nn.Module:
    module = kind(WIDTH)
    with torch.no_grad():
        for name, weight in (("q", s.w_q), ("k", s.w_k), ("v", s.w_v)):
            getattr(module, f"{name}_proj").weight.copy_(weight.T)
    return module


def run_unused_projections(s: Sentence) -> Outcome:
    bad, good = build_with_weights(s, WrongUnusedProjections), build_with_weights(s, RightUnusedProjections)
    bad_weights, good_weights = bad(s.x)[1].detach(), good(s.x)[1].detach()
    self_weight = float(bad_weights.diagonal().mean())
    return compare_matrices(
        bad_weights,
        good_weights,
        s.words,
        Message(
            "Both pass the shape test: output {shape}, weights {square}.",
            {"shape": tuple(s.x.shape), "square": tuple(good_weights.shape)},
        ),
        Message(
            "A backward pass shows it: {dead} of {total} matrices get no gradient, against {alive}.",
            {
                "dead": count_without_gradient(bad, s.x),
                "total": len(list(bad.parameters())),
                "alive": count_without_gradient(good, s.x),
            },
        ),
        *(
            [
                Message(
                    "Each word looks at itself with {own:.0%} on average, for x is most like x.", {"own": self_weight}
                )
            ]
            if len(set(s.words)) > 1  # of equal words each is as like any other
            else []
        ),
    )


# True: attend here, or hide here?
def wrong_meaning(mha: nn.MultiheadAttention, x: Tensor, may_attend: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
    _, causal = mha(x, x, x, attn_mask=may_attend)  # True hides here: the past is gone
    _, padded = mha(x, x, x, key_padding_mask=is_word)  # and here too: the words are gone
    return causal, padded


def right_meaning(mha: nn.MultiheadAttention, x: Tensor, may_attend: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
    _, causal = mha(x, x, x, attn_mask=~may_attend)
    _, padded = mha(x, x, x, key_padding_mask=~is_word)
    return causal, padded


def attend_with_sdpa(mha: nn.MultiheadAttention, x: Tensor, may_attend: Tensor) -> Tensor:
    """Here True means attend; with the identity as values, the output is the weights."""
    assert mha.in_proj_weight is not None
    q, k, _ = F.linear(x, mha.in_proj_weight, mha.in_proj_bias).chunk(3, -1)
    return F.scaled_dot_product_attention(q, k, torch.eye(len(x)), attn_mask=may_attend)


def module(s: Sentence) -> nn.MultiheadAttention:
    """One head with this sentence's projections."""
    mha = nn.MultiheadAttention(WIDTH, num_heads=1, bias=False).eval()
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.cat([s.w_q.T, s.w_k.T, s.w_v.T]))
    return mha


@torch.no_grad()
def run_meaning(s: Sentence) -> Outcome:
    mha, causal = module(s), masks.causal(len(s))
    is_word = torch.arange(len(s)) < max(1, len(s) - 2)
    (bad, bad_padding), (good, _padded) = (way(mha, s.x, causal, is_word) for way in (wrong_meaning, right_meaning))
    return Outcome(
        picture(bad, s.words, allowed=~causal),
        picture(good, s.words, allowed=causal),
        largest_gap(bad.nan_to_num(), good),
        (
            Message(
                "With True read as hide, every word sees the future only, and {word} sees nothing: NaN in {rows} of "
                "{n} {n:row|rows}.",
                {"word": s.words[-1], "rows": int(bad.isnan().any(-1).sum()), "n": len(s)},
            ),
            *(
                []
                if bool(is_word.all())  # without padding that mask hides everything
                else [
                    Message(
                        "The same slip in key_padding_mask puts {share:.0%} of the first word's weight on padding.",
                        {"share": float(bad_padding[0, ~is_word].nansum())},
                    )
                ]
            ),
            Message(
                "F.scaled_dot_product_attention takes the very same mask as True = attend: it is {gap:.1e} away from "
                "the right side.",
                {"gap": largest_gap(attend_with_sdpa(mha, s.x, causal), good)},
            ),
        ),
    )


# The padding mask of torch's encoder layer is (B, T), also where its input is (T, B, M).
def wrong_transposed_padding(layer: nn.TransformerEncoderLayer, x: Tensor, is_padding: Tensor) -> Tensor:
    return layer(x, src_key_padding_mask=is_padding.T)  # (T, B), as x is (T, B, M)


def right_transposed_padding(layer: nn.TransformerEncoderLayer, x: Tensor, is_padding: Tensor) -> Tensor:
    return layer(x, src_key_padding_mask=is_padding)  # (B, T), with batch_first and without


def encoder_layer(s: Sentence) -> tuple[nn.TransformerEncoderLayer, list[Tensor]]:
    """Torch's layer with this sentence's projections, and the list that it adds the weights of each pass to."""
    with seeded_generator(s.seed):
        layer = nn.TransformerEncoderLayer(WIDTH, 1, WIDTH, dropout=0.0).eval()
        layer.self_attn = module(s)
    weights: list[Tensor] = []
    layer.self_attn.register_forward_pre_hook(
        lambda _m, x, named: (x, named | {"need_weights": True}), with_kwargs=True
    )
    layer.self_attn.register_forward_hook(lambda _m, _x, output: weights.append(output[1]))
    return layer, weights


@torch.no_grad()
def run_transposed_padding(s: Sentence) -> Outcome:
    n, middle = len(s), len(s) // 2
    is_padding = torch.arange(n) > torch.arange(n)[:, None]  # sentence b: the first b + 1 words
    x = s.x[:, None] * ~is_padding.T[..., None]  # T, B, M
    layer, seen = encoder_layer(s)
    ways = (wrong_transposed_padding, right_transposed_padding)
    outputs = [way(layer, x, is_padding)[~is_padding.T] for way in ways]
    bad, good = (weights[middle] for weights in seen)
    labels = (*s.words[: middle + 1], *["pad"] * (n - middle - 1))
    return Outcome(
        picture(bad, labels, allowed=~is_padding.T[middle].expand(n, n)),
        picture(good, labels, allowed=~is_padding[middle].expand(n, n)),
        largest_gap(bad, good),
        _padding_facts(s, layer, x, is_padding, (bad, good), largest_gap(*outputs)),
    )


def _padding_facts(
    s: Sentence,
    layer: nn.TransformerEncoderLayer,
    x: Tensor,
    is_padding: Tensor,
    weights_pair: tuple[Tensor, Tensor],
    gap: float,
) -> tuple[Message, ...]:
    if len(s) == 1:
        return (Message("With one word and one sentence the mask is its own transpose."),)
    n_words = len(s) // 2 + 1
    bad, good = (float(weights[:n_words, n_words:].sum(-1).mean()) for weights in weights_pair)
    return (
        Message(
            "A batch of the first word, the first two, and so on: {n} sentences of {n} places, so that both shapes are "
            "the same. Drawn is sentence {b}: its words give {bad:.0%} of their attention to padding (right: "
            "{good:.0%}), and the layer's output for words is off by up to {gap:.2f}.",
            {"n": len(s), "b": n_words, "bad": bad, "good": good, "gap": gap},
        ),
        Message(
            "With one sentence fewer, the wrong code stops: {error}.",
            {"error": error_message(wrong_transposed_padding, layer, x[:, 1:], is_padding[1:])},
        ),
    )
