"""Slicing out heads: i:(i+1)*d instead of i*d:(i+1)*d."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence

HEADS = 4


def wrong(q: Tensor, k: Tensor, n_heads: int) -> list[Tensor]:
    d = q.shape[-1] // n_heads
    weights = []
    for i in range(n_heads):
        qi, ki = q[:, i : (i + 1) * d], k[:, i : (i + 1) * d]  # starts at i, not at i * d
        weights.append((qi @ ki.T / math.sqrt(d)).softmax(-1))
    return weights


def right(q: Tensor, k: Tensor, n_heads: int) -> list[Tensor]:
    d = q.shape[-1] // n_heads
    weights = []
    for i in range(n_heads):
        qi, ki = q[:, i * d : (i + 1) * d], k[:, i * d : (i + 1) * d]
        weights.append((qi @ ki.T / math.sqrt(d)).softmax(-1))
    return weights


def run(s: Sentence) -> Outcome:
    bad, good = torch.stack(wrong(s.q, s.k, HEADS)), torch.stack(right(s.q, s.k, HEADS))
    d = WIDTH // HEADS
    heads = (
        Message("head"),
        Message("coordinates, wrong"),
        Message("coordinates, right"),
        Message("largest difference"),
    )
    rows = [
        (
            str(i),
            f"{i}:{(i + 1) * d}  ({(i + 1) * d - i})",
            f"{i * d}:{(i + 1) * d}  ({d})",
            f"{largest_gap(bad[i], good[i]):.3f}",
        )
        for i in range(HEADS)
    ]
    return Outcome(
        picture(bad[-1], s.words),
        picture(good[-1], s.words),
        largest_gap(bad, good),
        (
            Message(
                "Head 0 is right, so a look at one head finds nothing. Head {last} (drawn) reads {wide} coordinates "
                "instead of {d}, {shared} of them those of the heads before it.",
                {"last": HEADS - 1, "wide": WIDTH - HEADS + 1, "d": d, "shared": WIDTH - HEADS + 1 - d},
            ),
        ),
        (heads, *rows),
    )


TRAP = Trap(
    "head_slices",
    Message("Head slices that overlap"),
    Message(
        "i:(i+1)*d starts one coordinate further for each head instead of d. Queries and keys are wrong alike, so the "
        "scores have the right shape, and the heads share most of what they read."
    ),
    (wrong,),
    (right,),
    run,
)
