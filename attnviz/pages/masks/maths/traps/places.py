"""Mistakes in places: of words beside padding or a cache, positions as whole numbers, axes of odd width."""

import math

import torch
from torch import Tensor

from attnviz.analysis.traps import Outcome, compare_matrices, largest_gap, picture, rotate_by_position
from attnviz.analysis.word_vectors import LONGEST, WIDTH, Sentence, word_vector
from attnviz.base.message import Message
from attnviz.core import masks
from attnviz.core.rope import grid_positions


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


def largest_change_by_order(s: Sentence, encoding: Tensor) -> float:
    """Largest change of a weight between two words when all words but the first are reversed."""
    order = torch.arange(len(s))
    reverse = torch.cat([order[:1], order[1:].flip(0)])  # is its own inverse
    return largest_gap(weights(s, encoding, reverse)[reverse][:, reverse], weights(s, encoding, order))


def run_integer_positions(s: Sentence) -> Outcome:
    positions = torch.arange(len(s))
    rounded, exact = wrong_integer_positions(positions, WIDTH), right_integer_positions(positions, WIDTH)
    bad, good = weights(s, rounded, positions), weights(s, exact, positions)
    return compare_matrices(
        bad,
        good,
        s.words,
        Message(
            "{zeros} of the {all} numbers of the encoding are 0 (right: {few}): whole numbers have no room "
            "for what lies between -1 and 1. What is left are {ones} ones, the cosines of place 0.",
            {
                "zeros": int((rounded == 0).sum()),
                "all": rounded.numel(),
                "few": int((exact == 0).sum()),
                "ones": int((rounded == 1).sum()),
            },
        ),
        Message(
            "So the order is lost: with all words but the first in reverse, a weight between two words moves by "
            "at most {bad:.3f} (right: {good:.3f}).",
            {"bad": largest_change_by_order(s, rounded), "good": largest_change_by_order(s, exact)},
        )
        if len(s) > 2
        else Message("So the order is lost: it takes three words to see it, of which the last two change places.")
        if len(s) > 1
        else Message("With one word there is no order to lose: place 0 is the same in both."),
    )


HEAD_WIDTH = 64
SIDE = 3  #: the words are laid out in frames of SIDE x SIDE


# RoPE over three axes whose share of the coordinates is odd: a pair is left where it stands.
def rotate_axis(x: Tensor, position: Tensor) -> Tensor:
    """RoPE along one axis: each coordinate of the first half is turned with one of the second, by `place` (T,)."""
    pairs = x.shape[-1] // 2  # of 21 coordinates: 10 pairs, and one is left
    angle = position[:, None] * 100.0 ** (-torch.arange(pairs) / pairs)
    a, b, left = x.split((pairs, pairs, x.shape[-1] - 2 * pairs), -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos(), left], -1)


def wrong_odd_axes(x: Tensor, positions: Tensor) -> Tensor:
    """Queries or keys (T, D) at `places` (T, 3): frame, row, column."""
    third = x.shape[-1] // 3  # 64 coordinates: 22, 21, 21
    axes = x.split((x.shape[-1] - 2 * third, third, third), -1)
    return torch.cat(
        [rotate_axis(coordinates, position) for coordinates, position in zip(axes, positions.T, strict=True)], -1
    )


def right_odd_axes(x: Tensor, positions: Tensor) -> Tensor:
    """The same, with whole pairs for each axis."""
    third = 2 * (x.shape[-1] // 2 // 3)  # 32 pairs: 12, 10, 10
    axes = x.split((x.shape[-1] - 2 * third, third, third), -1)
    return torch.cat(
        [rotate_axis(coordinates, position) for coordinates, position in zip(axes, positions.T, strict=True)], -1
    )


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
    positions = grid_positions(len(s), SIDE, SIDE)[: len(s)]  # frame, row and column of each word, (T, 3)
    bad, good = (_weights(way(q, positions), way(k, positions)) for way in (wrong_odd_axes, right_odd_axes))
    there = torch.ones(1, 3)
    ones = torch.ones(1, HEAD_WIDTH)
    still = [int((way(ones, there) == ones).sum()) for way in (wrong_odd_axes, right_odd_axes)]
    further = positions + torch.tensor([2, 0, 1])
    shifts = [
        largest_gap(_weights(way(q, further), way(k, further)), weights)
        for way, weights in ((wrong_odd_axes, bad), (right_odd_axes, good))
    ]
    return compare_matrices(
        bad,
        good,
        s.words,
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
            "{side} × {side}.)",
            {"bad": shifts[0], "good": shifts[1], "side": SIDE},
        ),
    )


def _weights(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.T / HEAD_WIDTH**0.5).softmax(-1)


# One mask for the longest text, cropped at the wrong corner.
def wrong_cropped_mask(q: Tensor, k: Tensor, longest_mask: Tensor) -> Tensor:
    q_len, k_len = q.shape[-2], k.shape[-2]
    may_attend = longest_mask[..., :q_len, :k_len]  # the rows of the first words, whichever words ask
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~may_attend, -torch.inf).softmax(-1)


def right_cropped_mask(q: Tensor, k: Tensor, longest_mask: Tensor) -> Tensor:
    q_len, k_len = q.shape[-2], k.shape[-2]
    may_attend = longest_mask[..., k_len - q_len : k_len, :k_len]  # the rows of the words that ask
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~may_attend, -torch.inf).softmax(-1)


def run_cropped_mask(s: Sentence) -> Outcome:
    length = len(s)
    new = max(1, length // 3)  # the words that came after the cache was filled
    longest_mask = masks.causal(LONGEST)
    bad, good = (way(s.q[-new:], s.k, longest_mask) for way in (wrong_cropped_mask, right_cropped_mask))
    self_attention_gap = largest_gap(
        wrong_cropped_mask(s.q, s.k, longest_mask), right_cropped_mask(s.q, s.k, longest_mask)
    )
    last = longest_mask[length - new : length, :length]
    return Outcome(
        picture(bad, s.words[-new:], s.words, allowed=longest_mask[:new, :length]),
        picture(good, s.words[-new:], s.words, allowed=last),
        largest_gap(bad, good),
        (
            Message(
                "{n} new {n:word|words} on a cache of {cached}: {word} is given the row of word {n} and sees {seen} "
                "of {k} "
                "words, not itself. Over all new words {bad} of {good} pairs {bad:is|are} kept.",
                {
                    "n": new,
                    "cached": length - new,
                    "word": s.words[-1],
                    "seen": int((bad[-1] > 0).sum()),
                    "k": length,
                    "bad": int((bad > 0).sum()),
                    "good": int(last.sum()),
                },
            )
            if new < length
            else Message("With one word there is no cache, and both corners are the same."),
            Message(
                "Without a cache both crops are one: over the whole sentence the two are {gap:.3f} apart, so training "
                "shows nothing.",
                {"gap": self_attention_gap},
            ),
        ),
    )


PADS = 3


# Padding on the left, and positions that count the padding too.
def wrong_left_padding(attention_mask: Tensor) -> Tensor:
    return torch.arange(len(attention_mask))  # the padding is counted


def right_left_padding(attention_mask: Tensor) -> Tensor:
    return (attention_mask.cumsum(-1) - 1).clamp(min=0)  # the first word is at 0


def causal_weights(q: Tensor, k: Tensor, is_word: Tensor) -> Tensor:
    """Causal attention that never looks at padding, (T, T); padding rows are left uniform."""
    allowed = masks.causal(len(q), len(k)) & is_word
    return (q @ k.T / WIDTH**0.5).masked_fill(~allowed, torch.finfo(q.dtype).min).softmax(-1)


def absolute_weights(s: Sentence, x: Tensor, positions: Tensor, is_word: Tensor) -> Tensor:
    """Causal attention of vectors x (T, M) with sinusoidal positions added."""
    angle = positions[:, None] / 100.0 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    placed = x + torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
    return causal_weights(placed @ s.w_q, placed @ s.w_k, is_word)


def run_left_padding(s: Sentence) -> Outcome:
    padded = torch.cat([torch.zeros(PADS, WIDTH), s.x])
    is_word = torch.arange(PADS + len(s)) >= PADS
    alone = absolute_weights(s, s.x, torch.arange(len(s)), is_word[PADS:])
    positions = [way(is_word) for way in (wrong_left_padding, right_left_padding)]
    bad, good = (absolute_weights(s, padded, position_ids, is_word)[PADS:, PADS:] for position_ids in positions)
    rope_bad, rope_good = (
        causal_weights(
            rotate_by_position(padded @ s.w_q, position_ids), rotate_by_position(padded @ s.w_k, position_ids), is_word
        )[PADS:, PADS:]
        for position_ids in positions
    )
    allowed = masks.causal(len(s))
    return compare_matrices(
        bad,
        good,
        s.words,
        Message(
            "{pads} places of padding on the left, masked as they should be. Counting them moves a weight by up to "
            "{gap:.3f}; with shifted positions the padded sentence is {exact:.1e} away from the bare one.",
            {"pads": PADS, "gap": largest_gap(bad, alone), "exact": largest_gap(good, alone)},
        ),
        Message(
            "With RoPE only distances count, and the slip does nothing: {gap:.1e}.",
            {"gap": largest_gap(rope_bad, rope_good)},
        ),
        allowed=allowed,
    )
