"""Which keys each query may see, as runs of keys: the one definition behind masks and their pair counts.

A run is one range of keys for each query, so a pattern over a million tokens takes a few million
numbers instead of a trillion. Its pairs can be counted exactly, patterns can be combined with & and |,
and one that is small enough can be turned into a boolean matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product

import torch
from torch import Tensor

from attnviz.base.message import Problem


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
        if self.step == 1:
            return (self.stop - self.start).clamp(min=0)
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

    def pairs(self) -> int:
        """Exact number of (query, key) pairs that may attend, without building the matrix."""
        return int(self.pairs_per_query().sum())

    def pairs_per_query(self) -> Tensor:
        """Number of keys that each query sees, (..., Q)."""
        if not self.runs:
            return torch.zeros(self.q_len, dtype=torch.long)
        if len({run.step for run in self.runs}) > 1:
            return _inclusion_exclusion(self.runs, self.position)
        return torch.stack([run.lengths(self.position) for run in _apart(self.runs, self.position)]).sum(0)

    def pairs_per_tile(self, tile: int) -> Tensor:
        """Number of pairs in each square of `tile` x `tile`, (..., Q/tile, K/tile); `tile` must divide Q and K."""
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


def offsets(weights: Tensor, dtype: torch.dtype, real: Tensor | None = None) -> Tensor:
    """Key position minus query position, (Q, K) or (..., Q, K); the last query is at the position of the last key."""
    q_len, k_len = weights.shape[-2:]
    places = torch.arange(k_len, device=weights.device, dtype=dtype) if real is None else real.cumsum(-1, dtype=dtype)
    return places.unsqueeze(-2) - places[..., k_len - q_len :].unsqueeze(-1)


def seen_before(weights: Tensor, tokens: Tensor, keys: Tensor | None) -> Tensor:
    """True where the key is an earlier occurrence of the query's token, (..., Q, K)."""
    q_len, k_len = weights.shape[-2:]
    tokens = _beside(weights, tokens)
    asked = tokens[..., k_len - q_len :]  # (..., Q)
    seen = (asked.unsqueeze(-1) == tokens.unsqueeze(-2)).tril(k_len - q_len - 1)
    return seen if keys is None else seen & keys.unsqueeze(-2)


def followers(seen: Tensor, keys: Tensor | None) -> Tensor:
    """True where the key comes just after a key that `seen` marks, padding left out, (..., Q, K)."""
    if keys is None:
        return torch.nn.functional.pad(seen[..., :-1], (1, 0))
    positions = torch.arange(keys.shape[-1], device=keys.device)
    latest = torch.where(keys, positions, -1).cummax(-1).values
    before = torch.nn.functional.pad(latest[..., :-1], (1, 0), value=-1).unsqueeze(-2)  # the real key before each
    real = (before >= 0) & keys.unsqueeze(-2)
    seen = seen & torch.ones_like(real)
    return seen.gather(-1, before.clamp_min(0).expand_as(seen)) & real


def _beside(weights: Tensor, tokens: Tensor) -> Tensor:
    """Ids in a shape that broadcasts to the weights, batch first: (B, K) becomes (B, 1, K) for (B, H, Q, K)."""
    lead = weights.shape[:-2]
    if tokens.dim() > 1:
        missing = max(0, len(lead) + 1 - tokens.dim())
        tokens = tokens.reshape(*tokens.shape[:-1], *(1,) * missing, tokens.shape[-1])
    around = zip(reversed(tokens.shape[:-1]), reversed(lead), strict=False)
    fits = tokens.shape[-1] == weights.shape[-1] and tokens.dim() <= len(lead) + 1
    if not fits or any(have not in (1, want) for have, want in around):
        raise Problem(
            "token ids have shape {shape}; beside weights of shape {weights} they must be (K,) for one sentence, "
            "or have the batch first",
            shape=tuple(tokens.shape),
            weights=tuple(weights.shape),
        )
    return tokens
