"""Dropout still on in evaluation."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnviz.base.message import Message
from attnviz.core.seeding import seeded
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import Sentence

SHARE = 0.3


class Wrong(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        # not a module, so model.eval() does not reach it
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.p)


class Right(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0)


def run(s: Sentence) -> Outcome:
    bad, good = Wrong(SHARE).eval(), Right(SHARE).eval()
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


TRAP = Trap(
    "dropout_in_eval",
    Message("Dropout still on in evaluation"),
    Message(
        "model.eval() switches modules, not numbers: dropout_p of F.scaled_dot_product_attention acts whenever it is "
        "not 0, and F.dropout(x, p) has training=True by default."
    ),
    (Wrong,),
    (Right,),
    run,
)
