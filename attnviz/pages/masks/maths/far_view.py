"""A mask's rules over 4,096 words: pairs are counted from the ends of each word's runs of keys, not one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.core import masks, patterns
from attnviz.core.patterns import Pattern
from attnviz.pages.masks.maths.mask_rules import Rule, Values, joined

LENGTH = 4096
TILE = 64  #: words along each side of the square that one dot of the picture stands for
FLEX_BLOCK = 128  #: words along each side of a block that FlexAttention skips or computes as a whole


@dataclass(frozen=True)
class Far:
    """`density` (tiles, tiles): share of each tile's pairs that is kept, 0 to 1; `pairs`: how many are kept in all.

    `blocks` counts FlexAttention's blocks: (empty, partial, full). `by_lot`: some keys are drawn at random and
    form no runs, so every pair was looked at, `TILE` rows of the matrix at a time.
    """

    length: int
    density: np.ndarray
    pairs: int
    blocks: tuple[int, int, int]
    by_lot: bool

    @property
    def square(self) -> int:
        return self.length**2

    @property
    def matrix_bytes(self) -> int:
        """Bytes that the whole boolean matrix would take; it is never made."""
        return self.square


def run(rules: Sequence[Rule], length: int = LENGTH, tile: int = TILE) -> Far:
    """The pairs that `rules` keep of `length` words, counted tile by tile."""
    parts = [rule.pattern(length) for rule in rules]
    known = [part for part in parts if part is not None]
    whole = joined(rules, known, patterns.everything(length)) if len(known) == len(parts) else None
    counts = _strip_by_strip(rules, length, tile) if whole is None else whole.pairs_per_tile(tile)
    wide = FLEX_BLOCK // tile
    blocks = counts.unflatten(1, (-1, wide)).unflatten(0, (-1, wide)).sum((1, 3))
    full, empty = int((blocks == FLEX_BLOCK**2).sum()), int((blocks == 0).sum())
    return Far(
        length,
        (counts / tile**2).numpy(),
        int(counts.sum()),
        (empty, blocks.numel() - full - empty, full),
        whole is None,
    )


def _strip_by_strip(rules: Sequence[Rule], length: int, tile: int) -> Tensor:
    """Pairs in each tile, (tiles, tiles), with `tile` rows of the matrix in memory at once."""
    everything = torch.ones(tile, length, dtype=torch.bool)
    counts = [
        joined(rules, strips, everything).unflatten(1, (-1, tile)).sum((0, 2))
        for strips in zip(*(_strips(rule, length, tile) for rule in rules), strict=True)
    ]
    return torch.stack(counts)


def _strips(rule: Rule, length: int, rows: int) -> Iterator[Tensor]:
    """The rule's matrix, (rows, length) at a time. Random keys are drawn row by row, so strips go in order."""
    values: Values = dict(rule.values)
    pattern = rule.pattern(length)
    luck = torch.Generator().manual_seed(values.get("seed", 0))
    for start in range(0, length, rows):
        some = slice(start, start + rows)
        if pattern is not None:
            yield pattern.tensor(rows=some)
        else:
            yield masks.drawn(_visible(values, length).tensor(rows=some), values["keys"], luck)


def _visible(values: Values, length: int) -> Pattern:
    return patterns.everything(length) if values["both_sides"] else patterns.causal(length)
