"""Which keys each query may see, as runs of keys: the one definition behind masks and their pair counts.

A run is a stretch of keys per query row, so a pattern over a million tokens is a few million
numbers, not a trillion: it can be counted exactly, combined with & and |, and, where it is small
enough to look at, turned into a boolean matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import torch
from torch import Tensor

from attnviz.core.message import Problem


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
        """How many keys of the run each query at `position` sees, (..., Q)."""
        if self.step == 1:
            return (self.stop - self.start).clamp(min=0)
        first = self.start + (position - self.start) % self.step
        return ((self.stop - first + self.step - 1) // self.step).clamp(min=0)


@dataclass(frozen=True)
class Pattern:
    """The union of runs over Q queries and K keys; the last query stands at the last key."""

    q_len: int
    k_len: int
    runs: tuple[Run, ...]

    @property
    def position(self) -> Tensor:
        """Where each query stands among the keys, (Q,); negative before the first key."""
        return torch.arange(self.q_len) + self.k_len - self.q_len

    def __and__(self, other: Pattern) -> Pattern:
        self._check(other)
        both = tuple(a & b for a, b in product(self.runs, other.runs))
        some = tuple(run for run in both if run.start.dim() > 1 or bool((run.start < run.stop).any()))
        return Pattern(self.q_len, self.k_len, some or both[:1])  # batched runs stay, to keep the shape

    def __or__(self, other: Pattern) -> Pattern:
        self._check(other)
        return Pattern(self.q_len, self.k_len, self.runs + other.runs)

    def pairs(self) -> int:
        """How many (query, key) pairs may attend, exactly, without building the matrix."""
        return int(self.pairs_per_query().sum())

    def pairs_per_query(self) -> Tensor:
        """How many keys each query sees, (..., Q)."""
        if not self.runs:
            return torch.zeros(self.q_len, dtype=torch.long)
        if len({run.step for run in self.runs}) > 1:
            return _inclusion_exclusion(self.runs, self.position)
        return torch.stack([run.lengths(self.position) for run in _apart(self.runs, self.position)]).sum(0)

    def pairs_per_tile(self, tile: int) -> Tensor:
        """How many pairs each square of `tile` x `tile` keeps, (..., Q/tile, K/tile); tile divides Q and K."""
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
    """Runs of one step that overlap nowhere and together cover the same keys: each begins where all before it end."""
    if len(runs) < 2:
        return runs
    step = runs[0].step
    origin = position % step
    shape = max((run.start.shape for run in runs), key=len)
    starts = torch.stack([run.start.expand(shape) for run in runs])  # (runs, ..., Q)
    stops = torch.stack([run.stop.expand(shape) for run in runs])
    # on the lattice of keys that lie a multiple of `step` from the query, counted from a common origin
    starts, stops = (-((origin - starts) // step), -((origin - stops) // step))
    starts, order = starts.sort(0)
    stops = stops.gather(0, order)
    starts = torch.maximum(starts, torch.cat([starts[:1], stops.cummax(0).values[:-1]]))
    return tuple(
        Run(origin + step * start, origin + step * (stop - 1) + 1, step)
        for start, stop in zip(starts, stops, strict=True)
    )


def _inclusion_exclusion(runs: tuple[Run, ...], position: Tensor) -> Tensor:
    """Length of the union of runs of different steps, from the lengths of their intersections."""
    total = torch.zeros_like(position)
    for n in range(1, len(runs) + 1):
        for some in combinations(runs, n):
            shared = reduce(Run.__and__, some).lengths(position)
            total = total + shared if n % 2 else total - shared
    return total
