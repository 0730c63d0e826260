"""Padding on the left, and positions that count the padding too."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence

PADS = 3


def wrong(attention_mask: Tensor) -> Tensor:
    return torch.arange(len(attention_mask))  # the padding is counted


def right(attention_mask: Tensor) -> Tensor:
    return (attention_mask.cumsum(-1) - 1).clamp(min=0)  # the first word is at 0


def absolute(x: Tensor, positions: Tensor) -> Tensor:
    """Vectors with sinusoidal positions added, (T, M)."""
    angle = positions[:, None] / 100.0 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    return x + torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def rotated(x: Tensor, positions: Tensor) -> Tensor:
    """RoPE on queries or keys, (T, D): pairs of coordinates turned by their position."""
    angle = positions[:, None] / 100.0 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    even, odd = x[:, 0::2], x[:, 1::2]
    turned = (even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos())
    return torch.stack(turned, -1).flatten(1)


def weights(q: Tensor, k: Tensor, attention_mask: Tensor) -> Tensor:
    """Causal attention that never looks at padding, (T, T); padding rows are left uniform."""
    allowed = torch.ones(len(q), len(k), dtype=torch.bool).tril() & attention_mask.bool()
    return (q @ k.T / WIDTH**0.5).masked_fill(~allowed, torch.finfo(q.dtype).min).softmax(-1)


def run(s: Sentence) -> Outcome:
    padded = torch.cat([torch.zeros(PADS, WIDTH), s.x])
    attention_mask = torch.cat([torch.zeros(PADS, dtype=torch.long), torch.ones(len(s), dtype=torch.long)])
    alone = _absolute_weights(s, s.x, torch.arange(len(s)), torch.ones(len(s), dtype=torch.long))
    bad, good = (
        _absolute_weights(s, padded, positions(attention_mask), attention_mask)[PADS:, PADS:]
        for positions in (wrong, right)
    )
    rope_bad, rope_good = (_rope_weights(s, padded, way(attention_mask), attention_mask) for way in (wrong, right))
    allowed = torch.ones(len(s), len(s), dtype=torch.bool).tril()
    return Outcome(
        picture(bad, s.words, allowed=allowed),
        picture(good, s.words, allowed=allowed),
        largest_gap(bad, good),
        (
            Message(
                "{pads} places of padding on the left, masked as they should be. Counting them moves a weight by up to "
                "{gap:.3f}; with shifted positions the padded sentence is {exact:.1e} away from the bare one.",
                {"pads": PADS, "gap": largest_gap(bad, alone), "exact": largest_gap(good, alone)},
            ),
            Message(
                "With RoPE only distances count, and the slip does nothing: {gap:.1e}.",
                {"gap": largest_gap(rope_bad, rope_good)},
            ),
        ),
    )


def _absolute_weights(s: Sentence, x: Tensor, positions: Tensor, attention_mask: Tensor) -> Tensor:
    placed = absolute(x, positions)
    return weights(placed @ s.w_q, placed @ s.w_k, attention_mask)


def _rope_weights(s: Sentence, x: Tensor, positions: Tensor, attention_mask: Tensor) -> Tensor:
    return weights(rotated(x @ s.w_q, positions), rotated(x @ s.w_k, positions), attention_mask)[PADS:, PADS:]


TRAP = Trap(
    "left_padding",
    Message("Padding on the left, positions not shifted"),
    Message(
        "Masking the padding is half of it: a model with absolute positions (learned or sinusoidal) must also start to "
        "count at the first word, or the same sentence means something else in every batch."
    ),
    (wrong,),
    (right,),
    run,
)
