"""A mask that a function accepts and ignores."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import Sentence


def wrong(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if mask is not None:
        scores.masked_fill(~mask, -torch.inf)  # returns a new tensor, which is not kept
    return scores.softmax(-1)


def right(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1)


def run(s: Sentence) -> Outcome:
    causal = torch.ones(len(s), len(s), dtype=torch.bool).tril()
    bad, good = wrong(s.q, s.k, causal), right(s.q, s.k, causal)
    forbidden = bad.masked_fill(causal, 0.0)
    return Outcome(
        picture(bad, s.words, allowed=causal),
        picture(good, s.words, allowed=causal),
        largest_gap(bad, good),
        (
            Message(
                "{word} gives {share:.0%} of its attention to words it may not see; over all rows {mean:.0%}. "
                "With and without the mask the result is the same.",
                {
                    "word": s.words[0],
                    "share": float(forbidden[0].sum()),
                    "mean": float(forbidden.sum(-1).mean()),
                },
            ),
        ),
    )


TRAP = Trap(
    "ignored_mask",
    Message("A mask accepted and ignored"),
    Message(
        "masked_fill without the underscore returns a new tensor. The argument is accepted, nothing fails, and the "
        "model reads the future. The same happens to a keyword that a function swallows with **kwargs. Test that "
        "changing a hidden word changes nothing."
    ),
    (wrong,),
    (right,),
    run,
)
