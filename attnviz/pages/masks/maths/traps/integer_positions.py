"""Sinusoidal positions that are cast back to the integers they were made from."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence


def wrong(positions: Tensor, width: int) -> Tensor:
    angle = positions[:, None] * 10_000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.cat([angle.sin(), angle.cos()], -1).to(positions.dtype)  # int64: cut down to 0


def right(positions: Tensor, width: int) -> Tensor:
    angle = positions[:, None] * 10_000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.cat([angle.sin(), angle.cos()], -1)  # as a float; cast to x.dtype where it is added


def weights(s: Sentence, encoding: Tensor, order: Tensor) -> Tensor:
    """Attention without a mask over the words in `order`, each place with its `encoding` (T, M); (T, T)."""
    x = s.x[order] + encoding
    return ((x @ s.w_q) @ (x @ s.w_k).T / WIDTH**0.5).softmax(-1)


def moved_by_order(s: Sentence, encoding: Tensor) -> float:
    """The most that a weight between two words changes when all words but the first stand in reverse."""
    order = torch.arange(len(s))
    reverse = torch.cat([order[:1], order[1:].flip(0)])  # is its own inverse
    return largest_gap(weights(s, encoding, reverse)[reverse][:, reverse], weights(s, encoding, order))


def run(s: Sentence) -> Outcome:
    positions = torch.arange(len(s))
    cut, kept = wrong(positions, WIDTH), right(positions, WIDTH)
    bad, good = weights(s, cut, positions), weights(s, kept, positions)
    return Outcome(
        picture(bad, s.words),
        picture(good, s.words),
        largest_gap(bad, good),
        (
            Message(
                "{zeros} of the {all} numbers of the encoding are 0 (right: {few}): whole numbers have no room "
                "for what lies between -1 and 1. What is left are {ones} ones, the cosines of place 0.",
                {
                    "zeros": int((cut == 0).sum()),
                    "all": cut.numel(),
                    "few": int((kept == 0).sum()),
                    "ones": int((cut == 1).sum()),
                },
            ),
            Message(
                "So the order is lost: with all words but the first in reverse, a weight between two words moves by "
                "at most {bad:.3f} (right: {good:.3f}).",
                {"bad": moved_by_order(s, cut), "good": moved_by_order(s, kept)},
            ),
        ),
    )


TRAP = Trap(
    "integer_positions",
    Message("Sinusoids cast back to integers"),
    Message(
        "Positions come from arange and are integers. Casting the encoding to the positions' dtype, not to that of x, "
        "cuts sines and cosines down to 0: adding it changes no shape and raises nothing, and the model has no places."
    ),
    (wrong,),
    (right,),
    run,
)
