"""Mistakes in scaling, projections and dropout."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.base.message import Message
from attnviz.core.modules import seeded
from attnviz.runs.traps import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence


# // where / was meant.
def wrong_floor_division(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.T // math.sqrt(q.shape[-1])).softmax(-1)  # rounds every score down


def right_floor_division(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)


def error_in_training(q: Tensor, k: Tensor) -> str:
    """PyTorch's error message when a gradient has to pass through `//`."""
    try:
        wrong_floor_division(q.clone().requires_grad_(), k)[:, 0].sum().backward()
    except RuntimeError as error:
        return str(error)
    return "–"


def run_floor_division(s: Sentence) -> Outcome:
    bad, good = wrong_floor_division(s.q, s.k), right_floor_division(s.q, s.k)
    floored = s.q @ s.k.T // math.sqrt(s.q.shape[-1])
    return Outcome(
        picture(bad, s.words),
        picture(good, s.words),
        largest_gap(bad, good),
        (
            Message(
                "{n} scores are left with {distinct} different values, all whole numbers.",
                {"n": floored.numel(), "distinct": int(floored.unique().numel())},
            ),
            Message("A training step stops with: {error}.", {"error": error_in_training(s.q, s.k)}),
        ),
    )


FLOOR_DIVISION = Trap(
    "floor_division",
    Message("// where / was meant"),
    Message(
        "One more slash rounds every score down to a whole number. Shapes, dtype and row sums stay right. "
        "PyTorch refuses to differentiate it, so it lives on in code that never trains: inference, evaluation, NumPy."
    ),
    (wrong_floor_division,),
    (right_floor_division,),
    run_floor_division,
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
    return Outcome(
        picture(bad, s.words),
        picture(good, s.words),
        largest_gap(bad, good),
        (
            Message(
                "The matrix is square ({m} x {m}), so nothing fails and the weights are simply others. "
                "nn.Linear({m}, {wide}).weight has shape {shape}: there, x @ weight stops with an error.",
                {"m": WIDTH, "wide": 2 * WIDTH, "shape": tuple(wide.weight.shape)},
            ),
        ),
    )


LINEAR_WEIGHT = Trap(
    "linear_weight",
    Message("nn.Linear's weight is (out, in)"),
    Message(
        "nn.Linear computes x @ weight.T. Papers write x W, and code that carries W over from a paper, from NumPy or "
        "from GPT-2's Conv1D, which keeps (in, out), is transposed without any error when the matrix is square."
    ),
    (wrong_linear_weight,),
    (right_linear_weight,),
    run_linear_weight,
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
    with seeded(s.seed):
        first, second = bad(s.q, s.k, values), bad(s.q, s.k, values)
    steady = good(s.q, s.k, values)
    return Outcome(
        picture(first, s.words),
        picture(steady, s.words),
        largest_gap(first, steady),
        (
            Message(
                "In evaluation mode, with p = {p}: {zeros} of {n} weights are zero and the others are "
                "{factor:.2f} times too large; rows sum to between {low:.2f} and {high:.2f}.",
                {
                    "p": SHARE,
                    "zeros": int((first == 0).sum()),
                    "n": first.numel(),
                    "factor": 1 / (1 - SHARE),
                    "low": float(first.sum(-1).min()),
                    "high": float(first.sum(-1).max()),
                },
            ),
            Message(
                "The same sentence asked twice differs by up to {gap:.3f}; the right code by {none:.0f}.",
                {"gap": largest_gap(first, second), "none": largest_gap(steady, good(s.q, s.k, values))},
            ),
        ),
    )


DROPOUT_IN_EVAL = Trap(
    "dropout_in_eval",
    Message("Dropout still on in evaluation"),
    Message(
        "model.eval() switches modules, not numbers: dropout_p of F.scaled_dot_product_attention acts whenever it is "
        "not 0, and F.dropout(x, p) has training=True by default."
    ),
    (WrongDropoutInEval,),
    (RightDropoutInEval,),
    run_dropout_in_eval,
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


def shapes_are_right(module: nn.Module, x: Tensor) -> bool:
    """A test that both modules pass."""
    output, weights = module(x)
    return output.shape == x.shape and weights.shape == (len(x), len(x))


def without_gradient(module: nn.Module, x: Tensor) -> tuple[int, int]:
    """A test that only the right module passes: how many parameters a backward pass misses, and how many there are."""
    module.zero_grad()
    module(x.clone().requires_grad_())[0].sum().backward()
    parameters = list(module.parameters())
    return sum(parameter.grad is None for parameter in parameters), len(parameters)


def with_weights_of(s: Sentence, kind: type[nn.Module]) -> nn.Module:
    module = kind(WIDTH)
    with torch.no_grad():
        for name, weight in (("q", s.w_q), ("k", s.w_k), ("v", s.w_v)):
            getattr(module, f"{name}_proj").weight.copy_(weight.T)
    return module


def run_unused_projections(s: Sentence) -> Outcome:
    bad, good = with_weights_of(s, WrongUnusedProjections), with_weights_of(s, RightUnusedProjections)
    x = s.x
    bad_weights, good_weights = bad(x)[1].detach(), good(x)[1].detach()
    dead, total = without_gradient(bad, x)
    alive, _ = without_gradient(good, x)
    return Outcome(
        picture(bad_weights, s.words),
        picture(good_weights, s.words),
        largest_gap(bad_weights, good_weights),
        (
            Message(
                "Both pass the shape test: output {shape}, weights {square}.",
                {"shape": tuple(x.shape), "square": tuple(good_weights.shape)},
            )
            if shapes_are_right(bad, x) and shapes_are_right(good, x)
            else Message("The shape test tells them apart."),
            Message(
                "A backward pass shows it: {dead} of {total} matrices get no gradient, against {alive}. And each word "
                "looks at itself with {own:.0%} on average, for x is most like x.",
                {"dead": dead, "total": total, "alive": alive, "own": float(bad_weights.diagonal().mean())},
            ),
        ),
    )


UNUSED_PROJECTIONS = Trap(
    "unused_projections",
    Message("Projections built, never applied"),
    Message(
        "The module has its three matrices, the parameter count is right, the shapes are right, and x attends to x. "
        "Test that every parameter gets a gradient, not that shapes agree."
    ),
    (WrongUnusedProjections,),
    (RightUnusedProjections,),
    run_unused_projections,
)
