"""A mask put together from presets and paint, and what it does to one sentence's attention."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.core.attention import attend
from attnviz.core.measures import total_variation
from attnviz.pages.masks.maths.mask_rules import Rule, combined
from attnviz.runs.word_vectors import sentence

MOST_LAYERS = 12


@dataclass(frozen=True)
class Painted:
    """Cells that a visitor set by hand, on top of the rules: flat indices q * T + k into a grid of `size` words."""

    size: int = 0
    on: tuple[int, ...] = ()
    off: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.on or self.off)

    def __len__(self) -> int:
        return len(self.on) + len(self.off)

    def cells(self, length: int) -> list[tuple[int, int, bool]]:
        """(query, key, may attend) of the painted cells that exist in a sentence of `length` words."""
        marked = [
            (*divmod(flat, self.size), value) for flats, value in ((self.on, True), (self.off, False)) for flat in flats
        ]
        return sorted(cell for cell in marked if max(cell[:2]) < length)

    def over(self, mask: Tensor) -> Tensor:
        """`mask` with the painted cells set."""
        painted = mask.clone()
        for q, k, value in self.cells(len(mask)):
            painted[q, k] = value
        return painted


def painted(base: np.ndarray, wanted: np.ndarray) -> Painted:
    """The paint that makes `base` look like `wanted`, both boolean (T, T)."""
    on, off = np.flatnonzero(wanted & ~base), np.flatnonzero(base & ~wanted)
    return Painted(len(base), tuple(map(int, on)), tuple(map(int, off)))


@dataclass(frozen=True)
class Config:
    words: tuple[str, ...]
    seed: int = 0
    rules: tuple[Rule, ...] = (Rule("causal"),)
    paint: Painted = Painted()


@dataclass(frozen=True)
class Result:
    """`mask` (T, T) boolean, `rules_alone` the same without paint; weights (T, T) `before` and `after` masking.

    `pairs` of `square` pairs are kept; `empty` are the queries that may look at nothing.
    `hops` (T, T): after how many layers key k has reached query q, 0 = at once (itself), -1 = never within
    MOST_LAYERS; the residual stream carries what a word has received on to the next layer. `moved` (T,): the share
    of each row's weight that masking moved to other keys.
    """

    words: tuple[str, ...]
    mask: np.ndarray
    rules_alone: np.ndarray
    before: np.ndarray
    after: np.ndarray
    hops: np.ndarray
    empty: tuple[int, ...]

    @property
    def pairs(self) -> int:
        return int(self.mask.sum())

    @property
    def square(self) -> int:
        return self.mask.size

    @property
    def moved(self) -> np.ndarray:
        return total_variation(torch.from_numpy(self.before), torch.from_numpy(self.after)).numpy()

    def reached(self, layers: int) -> np.ndarray:
        """(T,): how many words have reached each word after `layers` layers, itself included."""
        return ((self.hops >= 0) & (self.hops <= layers)).sum(-1)


def run(config: Config) -> Result:
    """The mask of `config`, and attention with and without it on random vectors."""
    s = sentence(config.words, config.seed)
    alone = combined(config.rules, len(s))
    mask = config.paint.over(alone)
    q, k, v = (t.unsqueeze(0) for t in (s.q, s.k, s.v))  # (H=1, T, D)
    before, after = attend(q, k, v), attend(q, k, v, mask=mask)
    return Result(
        config.words,
        mask.numpy(),
        alone.numpy(),
        before.weights[0].numpy(),
        after.weights[0].numpy(),
        hops(mask).numpy(),
        tuple(after.empty_rows[0].nonzero().flatten().tolist()),
    )


def hops(mask: Tensor, most: int = MOST_LAYERS) -> Tensor:
    """Layers until key k has reached query q, (T, T): 0 on the diagonal, -1 where never within `most`."""
    length = len(mask)
    step = (mask | torch.eye(length, dtype=torch.bool)).float()  # the residual stream keeps what was there
    reach = torch.eye(length)
    out = torch.where(reach.bool(), 0, -1)
    for layer in range(1, most + 1):
        wider = ((step @ reach) > 0).float()
        out = out.where((wider == reach) | (out >= 0), layer)
        if torch.equal(wider, reach):
            break
        reach = wider
    return out
