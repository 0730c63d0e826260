"""Attention masks as runs of keys, whose pairs can be counted at any length; combine them with & and |.

A run is one range of keys for each query, so a pattern over a million tokens takes a few million numbers instead of
a trillion, and one that is small enough can be turned into a boolean matrix.

Every function that makes one of the usual patterns first takes the number of queries and the number of keys (None: as
many as queries). The last query is at the position of the last key, as in decoding with a cache.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import torch
from torch import Tensor

from attnviz.base.message import Problem, require_at_least


@dataclass(frozen=True)
class Run:
    """Keys start <= j < stop whose distance to the query's position is a multiple of `step`."""

    start: Tensor  #: integers (..., Q)
    stop: Tensor  #: integers (..., Q)
    step: int = 1

    def __and__(self, other: Run) -> Run:
        start, stop = torch.maximum(self.start, other.start), torch.minimum(self.stop, other.stop)
        return Run(start, stop, math.lcm(self.step, other.step))

    def lengths(self, position: Tensor) -> Tensor:
        """Number of keys in the run for each query, (..., Q), given the queries' `position` (Q,)."""
        first = self.start + (position - self.start) % self.step
        return ((self.stop - first + self.step - 1) // self.step).clamp(min=0)


@dataclass(frozen=True)
class Pattern:
    """The union of runs over Q queries and K keys; the last query is at the position of the last key."""

    q_len: int
    k_len: int
    runs: tuple[Run, ...]

    @property
    def position(self) -> Tensor:
        """Position of each query among the keys, (Q,); negative for queries before the first key."""
        return torch.arange(self.q_len) + self.k_len - self.q_len

    def __and__(self, other: Pattern) -> Pattern:
        self._check(other)
        both = tuple(a & b for a, b in product(self.runs, other.runs))
        some = tuple(run for run in both if run.start.dim() > 1 or bool((run.start < run.stop).any()))
        return Pattern(self.q_len, self.k_len, some or both[:1])  # batched runs stay, to keep the shape

    def __or__(self, other: Pattern) -> Pattern:
        self._check(other)
        return Pattern(self.q_len, self.k_len, self.runs + other.runs)

    def pairs_per_tile(self, tile: int) -> Tensor:
        """Number of pairs in each square of `tile` x `tile`, (..., Q/tile, K/tile), without building the matrix.

        `tile` must divide Q and K.
        """
        if tile < 1 or self.q_len % tile or self.k_len % tile:
            raise Problem(
                "tile={tile} must divide (queries, keys) = {shape}", tile=tile, shape=(self.q_len, self.k_len)
            )
        start = torch.arange(0, self.k_len, tile).unsqueeze(-1)  # (K/tile, 1)
        columns = Run(start, start + tile)
        runs = tuple(Run(run.start.unsqueeze(-2), run.stop.unsqueeze(-2), run.step) for run in self.runs)
        if len({run.step for run in runs}) > 1:
            counts = _inclusion_exclusion(tuple(run & columns for run in runs), self.position)
        else:
            apart = _apart(runs, self.position)
            counts = torch.stack([(run & columns).lengths(self.position) for run in apart]).sum(0)  # (..., K/tile, Q)
        squares: Tensor = counts.view(*counts.shape[:-1], -1, tile).sum(-1)
        return squares.mT

    def tensor(self, device: torch.device | str | None = None, rows: slice = slice(None)) -> Tensor:
        """The boolean matrix (..., Q, K), True where a query may attend to a key; `rows` picks some of the queries."""
        key = torch.arange(self.k_len, device=device)
        position = self.position[rows].to(key.device).unsqueeze(-1)  # (Q, 1)
        allowed = torch.zeros(len(position), self.k_len, dtype=torch.bool, device=device)
        for run in self.runs:
            start, stop = (end[..., rows].to(key.device).unsqueeze(-1) for end in (run.start, run.stop))
            within = (key >= start) & (key < stop)  # (..., Q, K)
            if run.step > 1:
                within &= (key - position) % run.step == 0
            allowed = allowed | within
        return allowed

    def _check(self, other: Pattern) -> None:
        if (self.q_len, self.k_len) != (other.q_len, other.k_len):
            raise Problem(
                "a mask of (queries, keys) = {one} does not combine with one of {other}",
                one=(self.q_len, self.k_len),
                other=(other.q_len, other.k_len),
            )


def _apart(runs: tuple[Run, ...], position: Tensor) -> tuple[Run, ...]:
    """Non-overlapping runs that cover the same keys as `runs`, which must all have the same step.

    Each run begins where all earlier ones have ended.
    """
    if len(runs) < 2:
        return runs
    step = runs[0].step
    origin = position % step
    shape = max((run.start.shape for run in runs), key=len)
    starts = torch.stack([run.start.expand(shape) for run in runs])  # (runs, ..., Q)
    stops = torch.stack([run.stop.expand(shape) for run in runs])
    # convert to indices into the keys that are a multiple of `step` away from the query, from a common origin
    starts, stops = (-((origin - starts) // step), -((origin - stops) // step))
    starts, order = starts.sort(0)
    stops = stops.gather(0, order)
    starts = torch.maximum(starts, torch.cat([starts[:1], stops.cummax(0).values[:-1]]))
    return tuple(
        Run(origin + step * start, origin + step * (stop - 1) + 1, step)
        for start, stop in zip(starts, stops, strict=True)
    )


def _inclusion_exclusion(runs: tuple[Run, ...], position: Tensor) -> Tensor:
    """Number of keys in the union of runs of different steps, (..., Q), by inclusion and exclusion."""
    total = torch.zeros_like(position)
    for n in range(1, len(runs) + 1):
        for some in combinations(runs, n):
            shared = reduce(Run.__and__, some).lengths(position)
            total = total + shared if n % 2 else total - shared
    return total


def everything(q_len: int, k_len: int | None = None) -> Pattern:
    """No mask: every query sees every key."""
    position, keys = _positions(q_len, k_len)
    return _one_run(position, keys, torch.zeros_like(position), torch.full_like(position, keys))


def causal(q_len: int, k_len: int | None = None) -> Pattern:
    """Key position <= query position; the last query sees every key."""
    position, keys = _positions(q_len, k_len)
    return _one_run(position, keys, torch.zeros_like(position), position + 1)


def sliding_window(q_len: int, k_len: int | None, window: int, *, both_sides: bool = False) -> Pattern:
    """The last `window` keys, the query's own included; with `both_sides` also window - 1 later keys."""
    position, keys = _positions(q_len, k_len)
    require_at_least("window", window, 1)
    return _one_run(position, keys, position - window + 1, position + (window if both_sides else 1))


def prefix(q_len: int, k_len: int | None, prefix_len: int) -> Pattern:
    """Every query sees the first `prefix_len` keys (a prompt attended to in both directions); the rest is causal."""
    position, keys = _positions(q_len, k_len)
    require_at_least("prefix_len", prefix_len, 0)
    return _one_run(position, keys, torch.zeros_like(position), (position + 1).clamp(min=prefix_len))


def padding(q_len: int, k_len: int | None, lengths: int | Sequence[int] | Tensor, *, side: str = "right") -> Pattern:
    """Only the real keys: the first `lengths` keys, or the last ones when padding is on the "left".

    One length gives (Q, K); lengths (B,) give (B, 1, Q, K). Rows of padded queries are not emptied,
    because their results are never used.
    """
    position, keys = _positions(q_len, k_len)
    if side not in ("right", "left"):
        raise Problem('side={side} must be "right" or "left"', side=repr(side))
    count = torch.as_tensor(lengths)
    if count.numel() and not 0 <= int(count.min()) <= int(count.max()) <= keys:
        raise Problem("lengths={lengths} must lie between 0 and k_len={k_len}", lengths=count.tolist(), k_len=keys)
    count = count[..., None, None] if count.dim() else count
    first = torch.zeros_like(count) if side == "right" else keys - count
    return _one_run(position, keys, first + 0 * position, first + count + 0 * position)


def documents(q_len: int, k_len: int | None, lengths: Sequence[int]) -> Pattern:
    """Documents packed one after another in one row: each query sees only its own document."""
    position, keys = _positions(q_len, k_len)
    if any(n < 1 for n in lengths) or sum(lengths) != keys:
        raise Problem("document lengths {lengths} must add up to k_len={k_len}", lengths=list(lengths), k_len=keys)
    stops = torch.tensor([0, *lengths]).cumsum(0)
    document = torch.searchsorted(stops, position.clamp(min=0), right=True)  # (Q,)
    stop = stops[document.clamp(max=len(lengths))].where(position >= 0, 0)
    return _one_run(position, keys, stops[document - 1], stop)


def dilated(
    q_len: int, k_len: int | None, dilation: int, *, window: int | None = None, both_sides: bool = False
) -> Pattern:
    """Every `dilation`-th key, counting from the query's own; at most `window` keys when given."""
    position, keys = _positions(q_len, k_len)
    require_at_least("dilation", dilation, 1)
    reach = keys + abs(q_len)
    if window is not None:
        require_at_least("window", window, 1)
        reach = (window - 1) * dilation
    return _one_run(position, keys, position - reach, position + 1 + (reach if both_sides else 0), dilation)


def block_sparse(
    q_len: int, k_len: int | None, block: int, *, neighbours: int = 1, both_sides: bool = False
) -> Pattern:
    """Blocks of `block` keys: the query's own and `neighbours` blocks before it (with `both_sides` also after it)."""
    position, keys = _positions(q_len, k_len)
    require_at_least("block", block, 1)
    require_at_least("neighbours", neighbours, 0)
    first = position // block * block
    ahead = first + (neighbours + 1) * block if both_sides else position + 1
    return _one_run(position, keys, first - neighbours * block, ahead)


def global_tokens(q_len: int, k_len: int | None, count: int, *, both_sides: bool = False) -> Pattern:
    """Later queries see the first `count` keys; with `both_sides` all queries do, and these tokens see every key."""
    position, keys = _positions(q_len, k_len)
    require_at_least("count", count, 0)
    start = torch.zeros_like(position)
    seen = torch.full_like(position, count)
    if not both_sides:
        return _one_run(position, keys, start, torch.minimum(seen, position + 1))
    return _one_run(position, keys, start, seen.where((position < 0) | (position >= count), keys))


def _positions(q_len: int, k_len: int | None) -> tuple[Tensor, int]:
    """Position of each query among the keys, (Q,), and the number of keys."""
    keys = q_len if k_len is None else k_len
    require_at_least("q_len", q_len, 0)
    require_at_least("k_len", keys, 0)
    return torch.arange(q_len) + keys - q_len, keys


def _one_run(position: Tensor, k_len: int, start: Tensor, stop: Tensor, step: int = 1) -> Pattern:
    return Pattern(position.shape[0], k_len, (Run(start.clamp(0, k_len), stop.clamp(0, k_len), step),))
