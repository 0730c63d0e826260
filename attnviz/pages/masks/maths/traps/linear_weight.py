"""nn.Linear keeps its weight as (out, in)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence


def wrong(x: Tensor, q_proj: nn.Linear, k_proj: nn.Linear) -> Tensor:
    q, k = x @ q_proj.weight, x @ k_proj.weight  # (out, in): transposed
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)


def right(x: Tensor, q_proj: nn.Linear, k_proj: nn.Linear) -> Tensor:
    q, k = x @ q_proj.weight.T, x @ k_proj.weight.T  # the same as q_proj(x), k_proj(x)
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1)


@torch.no_grad()
def run(s: Sentence) -> Outcome:
    q_proj, k_proj = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
    q_proj.weight.copy_(s.w_q.T)
    k_proj.weight.copy_(s.w_k.T)
    bad, good = wrong(s.x, q_proj, k_proj), right(s.x, q_proj, k_proj)
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


TRAP = Trap(
    "linear_weight",
    Message("nn.Linear's weight is (out, in)"),
    Message(
        "nn.Linear computes x @ weight.T. Papers write x W, and code that carries W over from a paper, from NumPy or "
        "from GPT-2's Conv1D, which keeps (in, out), is transposed without any error when the matrix is square."
    ),
    (wrong,),
    (right,),
    run,
)
