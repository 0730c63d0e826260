"""Projections that are built and never applied."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence


class Wrong(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = x, x, x  # the projections were meant here
        weights = (q @ k.mT / math.sqrt(x.shape[-1])).softmax(-1)
        return weights @ v, weights


class Right(nn.Module):
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


def run(s: Sentence) -> Outcome:
    bad, good = with_weights_of(s, Wrong), with_weights_of(s, Right)
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


TRAP = Trap(
    "unused_projections",
    Message("Projections built, never applied"),
    Message(
        "The module has its three matrices, the parameter count is right, the shapes are right, and x attends to x. "
        "Test that every parameter gets a gradient, not that shapes agree."
    ),
    (Wrong,),
    (Right,),
    run,
)
