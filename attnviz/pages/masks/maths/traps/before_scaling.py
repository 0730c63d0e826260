"""The mask added before the scores are scaled instead of after."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence

SHOWN_FILL = -10.0
FILLS = (-torch.inf, -1e9, -1e4, -100.0, SHOWN_FILL)


def wrong(q: Tensor, k: Tensor, additive_mask: Tensor) -> Tensor:
    scores = q @ k.T + additive_mask
    return (scores / math.sqrt(q.shape[-1])).softmax(-1)  # divides the mask too


def right(q: Tensor, k: Tensor, additive_mask: Tensor) -> Tensor:
    scores = q @ k.T / math.sqrt(q.shape[-1])
    return (scores + additive_mask).softmax(-1)


def distance_penalty(length: int, slope: float = 0.5) -> Tensor:
    """ALiBi: minus slope times distance, and -inf for the future."""
    distance = torch.arange(length)[:, None] - torch.arange(length)
    return (-slope * distance).masked_fill(distance < 0, -torch.inf)


def run(s: Sentence) -> Outcome:
    length = len(s)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    shown = additive(causal, SHOWN_FILL)
    bad, good = wrong(s.q, s.k, shown), right(s.q, s.k, shown)
    alibi = distance_penalty(length)
    alibi_gap = largest_gap(wrong(s.q, s.k, alibi), right(s.q, s.k, alibi))
    heads = (Message("fill"), Message("leak, added before scaling"), Message("leak, added after"))
    rows = [_row(s, causal, fill) for fill in FILLS]
    return Outcome(
        picture(bad, s.words),
        picture(good, s.words),
        largest_gap(bad, good),
        (
            Message(
                "A fill of {fill:.0f} becomes {divided:.1f} when it is divided by sqrt({d}): {word} gives {bad:.1%} to "
                "the future instead of {good:.2%}.",
                {
                    "fill": SHOWN_FILL,
                    "divided": SHOWN_FILL / math.sqrt(WIDTH),
                    "d": WIDTH,
                    "word": s.words[0],
                    "bad": _leak(bad[:1], causal[:1]),
                    "good": _leak(good[:1], causal[:1]),
                },
            ),
            Message(
                "With -inf there is nothing to shrink and both agree. A position bias is a mask of small numbers, and "
                "never safe: with ALiBi (slope 0.5) a weight is off by {gap:.3f}.",
                {"gap": alibi_gap},
            ),
        ),
        (heads, *rows),
    )


def additive(allowed: Tensor, fill: float) -> Tensor:
    """0 where a query may attend, `fill` elsewhere."""
    return torch.zeros(allowed.shape).masked_fill(~allowed, fill)


def _leak(weights: Tensor, allowed: Tensor) -> float:
    return float(weights.masked_fill(allowed, 0.0).sum(-1).max())


def _row(s: Sentence, causal: Tensor, fill: float) -> tuple[Message | str, ...]:
    mask = additive(causal, fill)
    leaks = (_leak(way(s.q, s.k, mask), causal) for way in (wrong, right))
    return (f"{fill:g}", *(f"{leak:.3g}" for leak in leaks))


TRAP = Trap(
    "before_scaling",
    Message("The mask added before scaling"),
    Message(
        "A mask of numbers is added to the scaled scores. Added first, it is divided by sqrt(D) with them: "
        "harmless for -inf, wrong for every finite fill and for every position bias."
    ),
    (wrong,),
    (right,),
    run,
)
