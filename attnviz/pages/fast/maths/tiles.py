"""A run over tiles as a film: each tile in its turn, what its rows keep, what lies in fast memory, what was moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.attention import attend
from attnviz.core.tiled import GradientStep, TileStep, Tiling, tiled_attend, tiled_gradients

MASKS = ("causal", "window", "none")
MOST_TOKENS = 1024
BLOCKS = (16, 32, 64, 128)
NUMBER = 4  #: bytes of a float32, which is what the run computes with


@dataclass(frozen=True)
class Config:
    tokens: int = 96
    width: int = 64
    block_q: int = 16
    block_k: int = 16
    mask: str = "causal"
    window: int = 32
    backward: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.tokens <= MOST_TOKENS:
            raise Problem("{n} tokens: the film has room for 1 to {most}", n=self.tokens, most=MOST_TOKENS)

    @property
    def tiling(self) -> Tiling:
        window = self.window if self.mask == "window" else None
        return Tiling(self.block_q, self.block_k, self.mask == "causal", window)

    def shape(self, tile: Sequence[int]) -> tuple[int, int]:
        """Queries and keys of a tile; those at the edge may be smaller."""
        row, col = tile
        return min(self.block_q, self.tokens - row * self.block_q), min(self.block_k, self.tokens - col * self.block_k)


@dataclass(frozen=True)
class HeldPart:
    """Something in fast memory: its letter, and what its rows and columns are: queries, keys, the width, or one."""

    name: str
    rows: Literal["q", "k"]
    cols: Literal["q", "k", "d", "1"]


Q, K, V = HeldPart("Q", "q", "d"), HeldPart("K", "k", "d"), HeldPart("V", "k", "d")
FORWARD = (
    Q,
    K,
    V,
    HeldPart("S", "q", "k"),
    HeldPart("O", "q", "d"),
    HeldPart("max", "q", "1"),
    HeldPart("sum", "q", "1"),
)
BACKWARD = (
    K, V, HeldPart("dK", "k", "d"), HeldPart("dV", "k", "d"), Q, HeldPart("dO", "q", "d"), HeldPart("dQ", "q", "d"),
    HeldPart("P", "q", "k"), HeldPart("dS", "q", "k"), HeldPart("L", "q", "1"), HeldPart("D", "q", "1"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TileRun:
    """`first` and `second` are what a line keeps, after the tile with each block across it; where a block has no tile
    with it, what it kept before, and NaN before the first.

    Forward a line is a query, blocks across it are of keys, and it keeps its largest score and its sum. Backward a line
    is a key, blocks across it are of queries, and it keeps the lengths of dV and dK.
    """

    config: Config
    tiles: np.ndarray  #: (steps, 2), block of queries and block of keys, in their order
    cells: np.ndarray  #: (T, T), scaled scores, backward their gradients; NaN where masked
    shades: np.ndarray  #: the same from -1 to 1 on a scale: of gradients, which differ more, their square roots
    first: np.ndarray  #: (blocks across, T)
    second: np.ndarray
    moved: np.ndarray  #: (steps, 2), bytes read from slow memory and written to it so far
    difference: float  #: the largest from `attend`, as a share of the largest value
    other_block: int
    other_difference: float  #: the same from a run with blocks of that size

    @property
    def parts(self) -> tuple[HeldPart, ...]:
        return BACKWARD if self.config.backward else FORWARD

    @property
    def middle(self) -> int:
        """A step in the middle at which lines have met a tile before, where there is one."""
        at, last = len(self.tiles) // 2, len(self.tiles) - 1
        return min(at + int(not self.tiles[at][0 if self.config.backward else 1]), last)

    def held(self, at: int) -> int:
        """Bytes in fast memory while a tile is at work."""
        queries, keys = self.config.shape(self.tiles[at])
        size = {"q": queries, "k": keys, "d": self.config.width, "1": 1}
        return NUMBER * sum(size[part.rows] * size[part.cols] for part in self.parts)


def run(config: Config) -> TileRun:
    """Run one head of random vectors through all tiles."""
    generator = torch.Generator().manual_seed(config.seed)
    shape = (1, config.tokens, config.width)
    given = tuple(torch.randn(shape, generator=generator) for _ in range(4))  # q, k, v, and the output's gradient
    record = _Record(config)
    made = _result(config, config.tiling, given, record)
    other = min(block for block in BLOCKS[1:] if block != config.block_k)
    otherwise = _result(config, replace(config.tiling, block_q=other, block_k=other), given)
    tiles, shares = np.array(record.tiles), record.cells / (np.nanmax(np.abs(record.cells)) or 1)
    shades = np.sign(shares) * np.sqrt(np.abs(shares)) if config.backward else shares
    return TileRun(
        config, tiles, record.cells, shades, carried(record.first), carried(record.second), moved(config, tiles),
        _share(made, _wanted(config, given)), other, _share(made, otherwise),
    )  # fmt: skip


def _result(config: Config, tiling: Tiling, given: tuple[Tensor, ...], record: _Record | None = None) -> Tensor:
    """The output, or all gradients one after the other."""
    *qkv, d_output = given
    q, k, v = qkv
    if not config.backward:
        return tiled_attend(q, k, v, tiling, watch=record.forward if record else _unseen).output
    made = tiled_attend(q, k, v, tiling)
    watch = record.backward if record else _unseen
    return torch.cat(tiled_gradients(q, k, v, made, d_output, tiling, watch=watch))


def _unseen(_step: object) -> None:
    pass


def _wanted(config: Config, given: tuple[Tensor, ...]) -> Tensor:
    """The same by `attend`, and by torch's own derivatives."""
    whole = slice(0, config.tokens)
    allowed = config.tiling.allowed(whole, whole, config.tokens, config.tokens)
    *qkv, d_output = given
    q, k, v = (each.clone().requires_grad_(config.backward) for each in qkv)
    output = attend(q, k, v, allowed).output
    return torch.cat(torch.autograd.grad(output, (q, k, v), d_output)) if config.backward else output


def _share(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max() / other.abs().max())


def carried(kept: np.ndarray) -> np.ndarray:
    """Where a line met no tile, what it kept before: (blocks, lines), block after block."""
    for block in range(1, len(kept)):
        kept[block] = np.where(np.isnan(kept[block]), kept[block - 1], kept[block])
    return kept


class _Record:
    """Tiles, cells, and both numbers of each line, gathered while a pass runs."""

    def __init__(self, config: Config) -> None:
        n, block = config.tokens, config.block_q if config.backward else config.block_k
        self.config = config
        self.tiles: list[tuple[int, int]] = []
        self.cells = np.full((n, n), np.nan, np.float32)
        self.first, self.second = (np.full((-(-n // block), n), np.nan, np.float32) for _ in range(2))

    def forward(self, step: TileStep) -> None:
        _row, col = self._tile(step.rows, step.cols, step.scores)
        self.first[col, step.rows], self.second[col, step.rows] = step.highest.flatten(), step.total.flatten()

    def backward(self, step: GradientStep) -> None:
        row, _col = self._tile(step.rows, step.cols, step.d_scores)
        self.first[row, step.cols], self.second[row, step.cols] = (
            each.norm(dim=-1).flatten() for each in (step.dv, step.dk)
        )

    def _tile(self, rows: slice, cols: slice, values: Tensor) -> tuple[int, int]:
        config = self.config
        tile = (rows.start // config.block_q, cols.start // config.block_k)
        self.tiles.append(tile)
        allowed = config.tiling.allowed(rows, cols, config.tokens, config.tokens)
        self.cells[rows, cols] = values.flatten(end_dim=-3)[0].masked_fill(~allowed, torch.nan)
        return tile


def moved(config: Config, tiles: np.ndarray) -> np.ndarray:
    """Bytes read from slow memory and written to it up to each step, (steps, 2).

    Forward: a block of queries is read once, its output and log-sum-exp are written once, and keys and values are read
    for each tile. Backward: keys and values are read once, their gradients written once, and queries, dO, dQ, L and D
    are read, and dQ written, for each tile; D is made before from O and dO.
    """
    read, written = (0, 0) if not config.backward else (2 * config.tokens * config.width, config.tokens)
    outer = 1 if config.backward else 0
    total = []
    for at, tile in enumerate(tiles):
        queries, keys = config.shape(tile)
        begins = at == 0 or tiles[at - 1][outer] != tile[outer]
        ends = at == len(tiles) - 1 or tiles[at + 1][outer] != tile[outer]
        if config.backward:
            read += begins * 2 * keys * config.width + 3 * queries * config.width + 2 * queries
            written += queries * config.width + ends * 2 * keys * config.width
        else:
            read += begins * queries * config.width + 2 * keys * config.width
            written += ends * (queries * config.width + queries)
        total.append((read, written))
    return NUMBER * np.array(total)


def program(config: Config) -> str:
    """Prints how far the tiles' output, or their gradients, are from those of `attend`."""
    allowed = {
        "causal": f"masks.causal({config.tokens}, {config.tokens})",
        "window": f"masks.sliding_window({config.tokens}, {config.tokens}, {config.window})",
        "none": "None",
    }[config.mask]
    backward = """\
made = torch.cat(tiled_gradients(q, k, v, tiled_attend(q, k, v, tiling), d_output, tiling))
leaves = [each.requires_grad_() for each in (q, k, v)]
wanted = torch.cat(torch.autograd.grad(attend(*leaves, mask).output, leaves, d_output))
"""
    forward = "made, wanted = tiled_attend(q, k, v, tiling).output, attend(q, k, v, mask).output\n"
    return f"""\
import torch
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.tiled import Tiling, tiled_attend, tiled_gradients

generator = torch.Generator().manual_seed({config.seed})
q, k, v, d_output = (torch.randn(1, {config.tokens}, {config.width}, generator=generator) for _ in range(4))
tiling, mask = {config.tiling!r}, {allowed}
{backward if config.backward else forward}\
print(f"largest difference, of the largest value: {{(made - wanted).abs().max() / wanted.abs().max():.1e}}")
"""
