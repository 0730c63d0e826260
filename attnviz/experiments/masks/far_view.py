"""The same rules over 4,096 words: counted and looked at strip by strip, the matrix never built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.experiments.masks.mask_programs import tagged
from attnviz.experiments.masks.mask_rules import Rule

LENGTH = 4096
TILE = 64  #: words that one dot of the picture stands for, each way
FLEX_BLOCK = 128  #: what FlexAttention skips or computes as a whole


@dataclass(frozen=True)
class Far:
    """`density` (tiles, tiles): share of each tile's pairs that is kept, 0 to 1; `pairs` exact.

    `blocks` counts FlexAttention's blocks: (empty, partial, full). `largest_strip` is the number of
    cells that were in memory at once, `matrix_bytes` what the boolean matrix would have taken.
    """

    length: int
    density: np.ndarray
    pairs: int
    blocks: tuple[int, int, int]
    largest_strip: int

    @property
    def square(self) -> int:
        return self.length**2

    @property
    def matrix_bytes(self) -> int:
        return self.length**2


def run(rules: Sequence[Rule], length: int = LENGTH, tile: int = TILE) -> Far:
    """Every pair of `length` words looked at once, `tile` rows at a time."""
    tiles = length // tile
    counts = torch.zeros(tiles, tiles, dtype=torch.long)
    ready = [_Strips(rule, tag, length) for rule, tag in tagged(rules)]
    for row in range(tiles):
        strip = _joined(ready, row * tile, tile, length)  # (tile, length)
        counts[row] = strip.view(tile, tiles, tile).sum((0, 2))
    wide = FLEX_BLOCK // tile
    blocks = counts.view(tiles // wide, wide, tiles // wide, wide).sum((1, 3))
    full, empty = int((blocks == FLEX_BLOCK**2).sum()), int((blocks == 0).sum())
    return Far(
        length,
        (counts / tile**2).numpy(),
        int(counts.sum()),
        (empty, blocks.numel() - full - empty, full),
        tile * length,
    )


def _joined(ready: Sequence[_Strips], start: int, rows: int, length: int) -> Tensor:
    allowed = torch.ones(rows, length, dtype=torch.bool)
    for number, strips in enumerate(ready):
        strip = strips.next(start, rows)
        allowed = strip if not number else (allowed & strip if strips.rule.join == "and" else allowed | strip)
    return allowed


class _Strips:
    """One rule, a strip of rows after the other. Its condition is the very text that the page shows."""

    def __init__(self, rule: Rule, tag: str, length: int) -> None:
        self.rule, self.length = rule, length
        self.names: dict[str, Any] = {"torch": torch, "T": length, "k": torch.arange(length, dtype=torch.int32)}
        self.luck = torch.Generator().manual_seed(int(dict(rule.values).get("seed", 0)))
        if rule.kind != "random":
            exec(rule.setup(tag), self.names)
        self.condition = compile(rule.condition(tag), "<condition>", "eval")

    def next(self, start: int, rows: int) -> Tensor:
        q = torch.arange(start, start + rows, dtype=torch.int32)[:, None]
        if self.rule.kind == "random":
            return self._drawn(q)
        return torch.as_tensor(eval(self.condition, {**self.names, "q": q}))

    def _drawn(self, q: Tensor) -> Tensor:
        """The next rows of `masks.random`: its numbers are drawn row by row, so a strip continues the one before."""
        values = dict(self.rule.values)
        visible = torch.ones(len(q), self.length, dtype=torch.bool)
        if not values["both_sides"]:
            visible = self.names["k"] <= q
        luck = torch.rand(visible.shape, generator=self.luck) + visible
        chosen = luck.topk(min(int(values["keys"]), self.length), dim=-1).indices
        return torch.zeros_like(visible).scatter(-1, chosen, True) & visible
