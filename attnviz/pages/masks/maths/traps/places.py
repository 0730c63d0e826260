"""Mistakes in positions: whole numbers where fractions are meant, and axes of odd width."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence, word_vector


# Sinusoidal positions that are cast back to the integers they were made from.
def wrong_integer_positions(positions: Tensor, width: int) -> Tensor:
    angle = positions[:, None] * 10_000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.cat([angle.sin(), angle.cos()], -1).to(positions.dtype)  # int64: cut down to 0


def right_integer_positions(positions: Tensor, width: int) -> Tensor:
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


def run_integer_positions(s: Sentence) -> Outcome:
    positions = torch.arange(len(s))
    cut, kept = wrong_integer_positions(positions, WIDTH), right_integer_positions(positions, WIDTH)
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


INTEGER_POSITIONS = Trap(
    "integer_positions",
    Message("Sinusoids cast back to integers"),
    Message(
        "Positions come from arange and are integers. Casting the encoding to the positions' dtype, not to that of x, "
        "cuts sines and cosines down to 0: adding it changes no shape and raises nothing, and the model has no places."
    ),
    (wrong_integer_positions,),
    (right_integer_positions,),
    run_integer_positions,
)


HEAD_WIDTH = 64
SIDE = 3  #: the words are laid out in frames of SIDE x SIDE


# RoPE over three axes whose share of the coordinates is odd: a pair is left where it stands.
def turned(x: Tensor, place: Tensor) -> Tensor:
    """RoPE along one axis: each coordinate of the first half is turned with one of the second, by `place` (T,)."""
    pairs = x.shape[-1] // 2  # of 21 coordinates: 10 pairs, and one is left
    angle = place[:, None] * 100.0 ** (-torch.arange(pairs) / pairs)
    a, b, left = x.split((pairs, pairs, x.shape[-1] - 2 * pairs), -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos(), left], -1)


def wrong_odd_axes(x: Tensor, places: Tensor) -> Tensor:
    """Queries or keys (T, D) at `places` (T, 3): frame, row, column."""
    third = x.shape[-1] // 3  # 64 coordinates: 22, 21, 21
    parts = x.split((x.shape[-1] - 2 * third, third, third), -1)
    return torch.cat([turned(part, place) for part, place in zip(parts, places.T, strict=True)], -1)


def right_odd_axes(x: Tensor, places: Tensor) -> Tensor:
    """The same, with whole pairs for each axis."""
    third = 2 * (x.shape[-1] // 2 // 3)  # 32 pairs: 12, 10, 10
    parts = x.split((x.shape[-1] - 2 * third, third, third), -1)
    return torch.cat([turned(part, place) for part, place in zip(parts, places.T, strict=True)], -1)


def grid(length: int) -> Tensor:
    """Frame, row and column of each word, (T, 3): the words fill frames of SIDE x SIDE, one after the other."""
    n = torch.arange(length)
    return torch.stack([n // SIDE**2, n // SIDE % SIDE, n % SIDE], -1)


def vectors(s: Sentence) -> tuple[Tensor, Tensor]:
    """Queries and keys of one head, (T, 64) each, from wider random vectors of the same words."""
    x = torch.stack([word_vector(word, s.seed, HEAD_WIDTH, "masks") for word in s.words])
    w_q, w_k = (
        word_vector(f"projection {name}", s.seed, HEAD_WIDTH**2, "masks").view(HEAD_WIDTH, HEAD_WIDTH) / HEAD_WIDTH**0.5
        for name in "qk"
    )
    return x @ w_q, x @ w_k


def run_odd_axes(s: Sentence) -> Outcome:
    q, k = vectors(s)
    places = grid(len(s))
    bad, good = (_weights(way(q, places), way(k, places)) for way in (wrong_odd_axes, right_odd_axes))
    there = torch.ones(1, 3)
    whole = torch.ones(1, HEAD_WIDTH)
    still = [int((way(whole, there) == whole).sum()) for way in (wrong_odd_axes, right_odd_axes)]
    further = places + torch.tensor([2, 0, 1])
    shifts = [
        largest_gap(_weights(way(q, further), way(k, further)), weights)
        for way, weights in ((wrong_odd_axes, bad), (right_odd_axes, good))
    ]
    return Outcome(
        picture(bad, s.words),
        picture(good, s.words),
        largest_gap(bad, good),
        (
            Message(
                "Of {width} coordinates, {bad} are never turned, one of each odd share: {turned} of {pairs} pairs are "
                "(right: {all}).",
                {
                    "width": HEAD_WIDTH,
                    "bad": still[0],
                    "turned": (HEAD_WIDTH - still[0]) // 2,
                    "pairs": HEAD_WIDTH // 2,
                    "all": (HEAD_WIDTH - still[1]) // 2,
                },
            ),
            Message(
                "The usual test finds nothing: with all words two frames and one column further, the weights move by "
                "at most {bad:.1e} (right: {good:.1e}), for only distances count in both. (The words fill frames of "
                "{side} x {side}.)",
                {"bad": shifts[0], "good": shifts[1], "side": SIDE},
            ),
        ),
    )


def _weights(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.T / HEAD_WIDTH**0.5).softmax(-1)


ODD_AXES = Trap(
    "odd_axes",
    Message("RoPE in three axes, 31 of 32 pairs"),
    Message(
        "For video, RoPE gives time, row and column a share of a head's coordinates each, and turns them in pairs. A "
        "third of 64 is no even number: divide the pairs among the axes, not the coordinates."
    ),
    (turned, wrong_odd_axes),
    (turned, right_odd_axes),
    run_odd_axes,
)
