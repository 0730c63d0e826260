"""Tiled attention as a film: the tiles in order, the running numbers of each row, and the bytes moved."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.attention import attend
from attnviz.core.tiled import TileStep, Tiling, Watch, tiled_attend, tiled_gradients

MASKS = ("causal", "window", "none")
MOST_TOKENS = 1024
BLOCKS = (16, 32, 64, 128)
NUMBER = 4  #: bytes of a float32, which is what the run computes with
#: what lies in fast memory, forward and backward: a letter, and what its rows and columns are: queries, keys, the width
#: or one
FORWARD = (
    ("Q", "q", "d"), ("K", "k", "d"), ("V", "k", "d"), ("S", "q", "k"), ("O", "q", "d"), ("max", "q", "1"),
    ("sum", "q", "1"),
)  # fmt: skip
BACKWARD = (
    ("K", "k", "d"), ("V", "k", "d"), ("dK", "k", "d"), ("dV", "k", "d"), ("Q", "q", "d"), ("dO", "q", "d"),
    ("dQ", "q", "d"), ("P", "q", "k"), ("dS", "q", "k"), ("L", "q", "1"), ("D", "q", "1"),
)  # fmt: skip
#: the same of slow memory, where a side has all tokens; backward there is more
SLOW = tuple((name, "n", "1" if name == "L" else "d") for name in "QKVOL")
SLOW_BACKWARD = (*SLOW, ("dO", "n", "d"), ("D", "n", "1"), ("dQ", "n", "d"), ("dK", "n", "d"), ("dV", "n", "d"))
#: what steps with whole matrices move, forward and backward: a letter, whether it is written, and its columns. Backward
#: the weights are read, not computed again (arXiv 2205.14135, algorithms 0 and 3)
NAIVE = (
    ("Q", False, "d"), ("K", False, "d"), ("S", True, "n"), ("S", False, "n"), ("P", True, "n"), ("P", False, "n"),
    ("V", False, "d"), ("O", True, "d"),
)  # fmt: skip
NAIVE_BACKWARD = (
    ("P", False, "n"), ("dO", False, "d"), ("dV", True, "d"), ("dO", False, "d"), ("V", False, "d"), ("dP", True, "n"),
    ("P", False, "n"), ("dP", False, "n"), ("dS", True, "n"), ("dS", False, "n"), ("K", False, "d"), ("dQ", True, "d"),
    ("dS", False, "n"), ("Q", False, "d"), ("dK", True, "d"),
)  # fmt: skip


@dataclass(frozen=True)
class Config:
    """Sizes of the scores and of a tile, the mask, and whether the backward pass is shown."""

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

    @property
    def blocks(self) -> tuple[int, int]:
        """Queries and keys of a tile."""
        return self.block_q, self.block_k

    def sizes(self, tile: np.ndarray) -> dict[str, int]:
        """Queries and keys of a tile, which at the edge may be smaller, by the letters of sides."""
        queries, keys = np.minimum(self.blocks, self.tokens - tile * self.blocks).tolist()
        return {"q": queries, "k": keys, "d": self.width, "1": 1}


@dataclass(frozen=True, eq=False)
class TileRun:
    """One head of random vectors, run tile by tile, with what each step leaves behind.

    `line_stats` holds two numbers of each line after each block across it. A block without a tile repeats the numbers
    before it; they are NaN before the first tile. Forward a line is a query, blocks across it are of keys, and the
    numbers are the running maximum and sum. Backward a line is a key, blocks are of queries, and the numbers are the
    norms of dV and dK.
    """

    config: Config
    tiles: np.ndarray  #: (steps, 2), block of queries and block of keys, in their order
    cells: np.ndarray  #: (T, T), scaled scores, backward their gradients; NaN where masked
    line_stats: np.ndarray  #: (2, blocks across, T)
    bytes_moved: np.ndarray  #: (steps, 2), bytes read from slow memory and written to it so far
    difference: float  #: the largest from `attend`, as a share of the largest value
    other_block: int
    other_difference: float  #: the same from a run with blocks of that size

    @property
    def buffers(self) -> tuple[tuple[str, str, str], ...]:
        return BACKWARD if self.config.backward else FORWARD

    @property
    def naive_bytes(self) -> list[tuple[str, bool, int]]:
        """What the naive way moves, in its order: a letter, whether it is written, and bytes."""
        tokens, columns = self.config.tokens, {"n": self.config.tokens, "d": self.config.width}
        steps = NAIVE_BACKWARD if self.config.backward else NAIVE
        return [(name, written, NUMBER * tokens * columns[side]) for name, written, side in steps]

    @property
    def shades(self) -> np.ndarray:
        """The cells from -1 to 1 on a scale: of gradients, which differ more, their square roots."""
        shares = self.cells / (np.nanmax(np.abs(self.cells)) or 1)
        return np.sign(shares) * np.sqrt(np.abs(shares)) if self.config.backward else shares

    @property
    def middle_step(self) -> int:
        """A step in the middle at which lines have met a tile before, where there is one."""
        at, last = len(self.tiles) // 2, len(self.tiles) - 1
        return min(at + int(not self.tiles[at][0 if self.config.backward else 1]), last)

    @property
    def canvas_header(self) -> dict[str, Any]:
        """Plain data for the canvas, besides `cells` and `line_stats`."""
        config = self.config
        return {
            "name": str(config),
            "tokens": config.tokens,
            "blocks": list(config.blocks),
            "width": config.width,
            "backward": config.backward,
            "tiles": self.tiles.tolist(),
            "moved": self.bytes_moved.tolist(),
            "naive": self.naive_bytes,
            "parts": self.buffers,
            "slow": SLOW_BACKWARD if config.backward else SLOW,
        }


def run(config: Config) -> TileRun:
    """Run one head of random vectors through all tiles."""
    generator, all_tokens = torch.Generator().manual_seed(config.seed), slice(0, config.tokens)
    shape = (1, config.tokens, config.width)
    inputs = tuple(torch.randn(shape, generator=generator) for _ in range(4))  # q, k, v, and the output's gradient
    allowed = config.tiling.allowed(all_tokens, all_tokens, config.tokens, config.tokens)
    steps: list[TileStep] = []
    result = _compute_tiled(config, config.tiling, inputs, steps.append)
    tiles = np.array([(step.rows.start, step.cols.start) for step in steps]) // config.blocks
    n_across = -(-config.tokens // config.blocks[0 if config.backward else 1])
    cells = np.full(allowed.shape, np.nan, np.float32)
    line_stats = np.full((2, n_across, config.tokens), np.nan, np.float32)
    for step, (row, col) in zip(steps, tiles, strict=True):
        cells[step.rows, step.cols] = step.cells[0, 0]
        # until a line meets another tile it keeps what it has
        if config.backward:
            line_stats[:, row:, step.cols] = torch.stack(step.running).norm(dim=-1)[:, 0]
        else:
            line_stats[:, col:, step.rows] = torch.stack(step.running[:2])[:, 0]
    cells[~allowed.numpy()] = np.nan
    other_block = min(block for block in BLOCKS[1:] if block != config.block_k)
    other_result = _compute_tiled(config, replace(config.tiling, block_q=other_block, block_k=other_block), inputs)
    difference = _relative_difference(result, _compute_exact(config, inputs, allowed))
    return TileRun(
        config,
        tiles,
        cells,
        line_stats,
        bytes_by_step(config, tiles),
        difference,
        other_block,
        _relative_difference(result, other_result),
    )


def _compute_tiled(
    config: Config, tiling: Tiling, inputs: tuple[Tensor, ...], watch: Watch = lambda _step: None
) -> Tensor:
    """The output in tiles, or the gradients of q, k and v concatenated."""
    q, k, v, d_output = inputs
    if not config.backward:
        return tiled_attend(q, k, v, tiling, watch).output
    return torch.cat(tiled_gradients(q, k, v, tiled_attend(q, k, v, tiling), d_output, tiling, watch))


def _compute_exact(config: Config, inputs: tuple[Tensor, ...], allowed: Tensor) -> Tensor:
    """The output by `attend`, or all gradients by torch's autograd."""
    q, k, v = (tensor.clone().requires_grad_(config.backward) for tensor in inputs[:3])
    output = attend(q, k, v, allowed).output
    return torch.cat(torch.autograd.grad(output, (q, k, v), inputs[3])) if config.backward else output


def _relative_difference(actual: Tensor, expected: Tensor) -> float:
    return float((actual - expected).abs().max() / expected.abs().max())


def bytes_by_step(config: Config, tiles: np.ndarray) -> np.ndarray:
    """Bytes read from slow memory and written to it up to each step, (steps, 2).

    Forward: a block of queries is read once, its output and log-sum-exp are written once, and keys and values are read
    for each tile. Backward: keys and values are read once, their gradients written once, and queries, dO, dQ, L and D
    are read, and dQ written, for each tile; D is made before from O and dO.
    """
    d, outer = config.width, tiles[:, 1 if config.backward else 0]
    queries, keys = np.minimum(config.blocks, config.tokens - tiles * config.blocks).T
    begins, ends = np.diff(outer, prepend=-1) != 0, np.diff(outer, append=-1) != 0
    if config.backward:
        read, written = begins * 2 * keys * d + queries * (3 * d + 2), queries * d + ends * 2 * keys * d
        read[0] += 2 * config.tokens * d
        written[0] += config.tokens
    else:
        read, written = begins * queries * d + 2 * keys * d, ends * queries * (d + 1)
    return NUMBER * np.cumsum([read, written], axis=1).T


def program(config: Config) -> str:
    """Prints how far the tiles' output, or their gradients, are from those of `attend`."""
    allowed = {
        "causal": f"masks.causal({config.tokens}, {config.tokens})",
        "window": f"masks.sliding_window({config.tokens}, {config.tokens}, {config.window})",
        "none": "None",
    }[config.mask]
    backward = """\
tiled = torch.cat(tiled_gradients(q, k, v, tiled_attend(q, k, v, tiling), d_output, tiling))
leaves = [tensor.requires_grad_() for tensor in (q, k, v)]
exact = torch.cat(torch.autograd.grad(attend(*leaves, mask).output, leaves, d_output))
"""
    forward = "tiled, exact = tiled_attend(q, k, v, tiling).output, attend(q, k, v, mask).output\n"
    return f"""\
import torch
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.tiled import Tiling, tiled_attend, tiled_gradients

generator = torch.Generator().manual_seed({config.seed})
q, k, v, d_output = (torch.randn(1, {config.tokens}, {config.width}, generator=generator) for _ in range(4))
tiling, mask = {config.tiling!r}, {allowed}
{backward if config.backward else forward}\
print(f"largest difference, of the largest value: {{(tiled - exact).abs().max() / exact.abs().max():.1e}}")
"""
