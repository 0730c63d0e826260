"""New tokens after a cache, their positions counted from 0 again."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence


def wrong(new: Tensor, cached: Tensor) -> Tensor:
    return torch.arange(len(new))  # as if the prompt were not there


def right(new: Tensor, cached: Tensor) -> Tensor:
    return torch.arange(len(new)) + len(cached)  # they go on where the cache ends


def rotated(x: Tensor, positions: Tensor) -> Tensor:
    """RoPE on queries or keys, (T, D): pairs of coordinates turned by their position."""
    angle = positions[:, None] / 100.0 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    even, odd = x[:, 0::2], x[:, 1::2]
    turned = (even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos())
    return torch.stack(turned, -1).flatten(1)


def weights(q: Tensor, k: Tensor, cached: Tensor, positions: Tensor) -> Tensor:
    """Weights (new, T) of the new tokens over the cache, which is rotated already, and themselves."""
    keys = torch.cat([cached, rotated(k, positions)])
    scores = rotated(q, positions) @ keys.T / WIDTH**0.5
    hidden = torch.ones(len(q), len(keys), dtype=torch.bool).triu(len(cached) + 1)
    return scores.masked_fill(hidden, -torch.inf).softmax(-1)


def run(s: Sentence) -> Outcome:
    new = max(1, len(s) // 3)
    cached = rotated(s.k[:-new], torch.arange(len(s) - new))
    bad, good = (weights(s.q[-new:], s.k[-new:], cached, way(s.k[-new:], cached)) for way in (wrong, right))
    whole = weights(s.q, s.k, s.k[:0], torch.arange(len(s)))[-new:]
    allowed = torch.ones(new, len(s), dtype=torch.bool).tril(len(s) - new)
    own = slice(len(s) - new, None)
    same = largest_gap(
        bad[:, own] / bad[:, own].sum(-1, keepdim=True), good[:, own] / good[:, own].sum(-1, keepdim=True)
    )
    return Outcome(
        picture(bad, s.words[-new:], s.words, allowed=allowed),
        picture(good, s.words[-new:], s.words, allowed=allowed),
        largest_gap(bad, good),
        (
            Message(
                "{n} new words on a cache of {cached}. {word}, at position {right}, is rotated as if it stood at "
                "{wrong}: a weight is off by up to {gap:.3f}. With shifted positions the weights are {exact:.1e} away "
                "from those of one pass over the whole sentence.",
                {
                    "n": new,
                    "cached": len(s) - new,
                    "word": s.words[-1],
                    "right": len(s) - 1,
                    "wrong": new - 1,
                    "gap": largest_gap(bad, good),
                    "exact": largest_gap(good, whole),
                },
            ),
            Message(
                "Among themselves the new words keep their distances, and share out their weight as they should: "
                "{same:.1e} apart. Only their distance to the cache is wrong, so that no first step, no test on a "
                "prompt alone and no shape shows it.",
                {"same": same},
            ),
        )
        if new < len(s)
        else (Message("With one word there is no cache yet, and both count from 0."),),
    )


TRAP = Trap(
    "unshifted_positions",
    Message("A cache, positions not shifted"),
    Message(
        "Keys are rotated before they are cached. New tokens must go on counting where the cache ends; counted from 0 "
        "again, they stand among the first words of the prompt."
    ),
    (wrong,),
    (right,),
    run,
)
