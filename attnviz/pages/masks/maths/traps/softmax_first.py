"""Softmax first, mask afterwards."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import Sentence


def wrong(scores: Tensor, may_attend: Tensor) -> Tensor:
    weights = scores.softmax(-1)
    return weights * may_attend  # rows no longer sum to 1


def right(scores: Tensor, may_attend: Tensor) -> Tensor:
    return scores.masked_fill(~may_attend, -torch.inf).softmax(-1)


def run(s: Sentence) -> Outcome:
    length = len(s)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    bad, good = wrong(s.scores, causal), right(s.scores, causal)
    least = int(bad.sum(-1).argmin())
    changed = s.scores.clone()
    changed[:, -1] = changed[:, -1].flip(0) + 3.0  # another last word: other scores in its column
    moved_bad = _most(wrong(changed, causal)[:-1] - bad[:-1])
    moved_good = _most(right(changed, causal)[:-1] - good[:-1])
    return Outcome(
        picture(bad, s.words, allowed=causal),
        picture(good, s.words, allowed=causal),
        largest_gap(bad, good),
        (
            Message(
                "The rows sum to {low:.2f} at the least: {word} hands out {share:.0%} of its attention, and the output "
                "shrinks with it.",
                {"low": float(bad[least].sum()), "word": s.words[least], "share": float(bad[least].sum())},
            ),
            Message(
                "The future still leaks, through the denominator: another last word moves the weights of earlier rows "
                "by up to {bad:.3f} (right: {good:.0f}).",
                {"bad": moved_bad, "good": moved_good},
            ),
        ),
    )


def _most(change: Tensor) -> float:
    return float(change.abs().max()) if change.numel() else 0.0


TRAP = Trap(
    "softmax_first",
    Message("Softmax before masking"),
    Message(
        "Zeroing weights after the softmax hides a word's value and keeps its vote: it was counted in the denominator, "
        "so rows sum to less than 1 and depend on what they may not see."
    ),
    (wrong,),
    (right,),
    run,
)
