"""A mistake in what torch's encoder layer is told of padding."""

import torch
from torch import Tensor, nn

from attnviz.base.message import Message
from attnviz.core.modules import seeded
from attnviz.pages.masks.maths.traps.layers import module
from attnviz.runs.traps import Outcome, error_of, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence


# The padding mask of torch's encoder layer is (B, T), also where its input is (T, B, M).
def wrong_transposed_padding(layer: nn.TransformerEncoderLayer, x: Tensor, is_padding: Tensor) -> Tensor:
    return layer(x, src_key_padding_mask=is_padding.T)  # (T, B), as x is (T, B, M)


def right_transposed_padding(layer: nn.TransformerEncoderLayer, x: Tensor, is_padding: Tensor) -> Tensor:
    return layer(x, src_key_padding_mask=is_padding)  # (B, T), with batch_first and without


def encoder_layer(s: Sentence) -> tuple[nn.TransformerEncoderLayer, list[Tensor]]:
    """Torch's layer with this sentence's projections, and the list that it adds the weights of each pass to."""
    with seeded(s.seed):
        layer = nn.TransformerEncoderLayer(WIDTH, 1, WIDTH, dropout=0.0).eval()
        layer.self_attn = module(s)
    seen: list[Tensor] = []
    layer.self_attn.register_forward_pre_hook(
        lambda _m, x, named: (x, named | {"need_weights": True}), with_kwargs=True
    )
    layer.self_attn.register_forward_hook(lambda _m, _x, made: seen.append(made[1]))
    return layer, seen


@torch.no_grad()
def run_transposed_padding(s: Sentence) -> Outcome:
    n, shown = len(s), len(s) // 2
    is_padding = torch.arange(n) > torch.arange(n)[:, None]  # sentence b: the first b + 1 words
    x = s.x[:, None] * ~is_padding.T[..., None]  # T, B, M
    layer, seen = encoder_layer(s)
    ways = (wrong_transposed_padding, right_transposed_padding)
    outputs = [way(layer, x, is_padding)[~is_padding.T] for way in ways]
    bad, good = (weights[shown] for weights in seen)
    words = (*s.words[: shown + 1], *["pad"] * (n - shown - 1))
    return Outcome(
        picture(bad, words, allowed=~is_padding.T[shown].expand(n, n)),
        picture(good, words, allowed=~is_padding[shown].expand(n, n)),
        largest_gap(bad, good),
        _facts(s, layer, x, is_padding, (bad, good), largest_gap(*outputs)),
    )


def _facts(
    s: Sentence,
    layer: nn.TransformerEncoderLayer,
    x: Tensor,
    is_padding: Tensor,
    drawn: tuple[Tensor, Tensor],
    gap: float,
) -> tuple[Message, ...]:
    if len(s) == 1:
        return (Message("With one word and one sentence the mask is its own transpose."),)
    words = len(s) // 2 + 1
    bad, good = (float(weights[:words, words:].sum(-1).mean()) for weights in drawn)
    return (
        Message(
            "A batch of the first word, the first two, and so on: {n} sentences of {n} places, so that both shapes are "
            "the same. Drawn is sentence {b}: its words give {bad:.0%} of their attention to padding (right: "
            "{good:.0%}), and the layer's output for words is off by up to {gap:.2f}.",
            {"n": len(s), "b": words, "bad": bad, "good": good, "gap": gap},
        ),
        Message(
            "With one sentence fewer, the wrong code stops: {error}.",
            {"error": error_of(wrong_transposed_padding, layer, x[:, 1:], is_padding[1:])},
        ),
    )
