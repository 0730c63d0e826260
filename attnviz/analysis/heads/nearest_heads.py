"""Heads whose rows are nearest to given rows, such as a class's votes, and how near chance alone comes.

Whole rows are compared, the first token's share included: without it, heads that rest there would be near to anything.
The distance is the Jensen-Shannon divergence in nats, from 0 to ln 2, the mean over all rows. One row is no evidence:
beside the distance stands how many random rows of the same shape, on other words, have a head as near.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attnviz.base.message import Problem

if TYPE_CHECKING:
    from attnviz.models.capture import Trace

N_RANDOM = 1_000
_CHUNK = 2_000_000  #: numbers that are compared at once

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NearHead:
    """A head, and its mean Jensen-Shannon divergence from the rows in nats."""

    layer: int
    head: int
    divergence: float


@dataclass(frozen=True)
class NearestHeads:
    """The nearest heads, the nearest first, and how many of `n_random` random rows have a head as near as the first."""

    heads: tuple[NearHead, ...]
    as_near_by_chance: int
    n_random: int = N_RANDOM


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """The Jensen-Shannon divergence along the last axis, in nats; each row sums to 1."""
    return np.maximum(0.0, _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2)


def _entropy(p: Floats) -> Floats:
    return -np.sum(p * np.log(np.where(p > 0, p, 1.0)), -1)


def compare_rows(
    places: Sequence[tuple[int, int]], pairs: Sequence[tuple[Floats, Floats]], most: int = 5, seed: int = 0
) -> NearestHeads:
    """The heads nearest to the second of each pair, by the first: the rows (H, K) of all heads; `places` are theirs.

    A random row has the same numbers on other words that some head looks at, its largest on another one.
    """
    pairs = [(_normalise(heads), _normalise(row)) for heads, row in pairs]
    mean = np.mean([jensen_shannon(heads, row) for heads, row in pairs], 0)
    nearest = np.argsort(mean, kind="stable")[:most]
    random = np.random.default_rng(seed)
    by_chance = 0
    step = max(1, _CHUNK // max(heads.size for heads, _row in pairs))
    for start in range(0, N_RANDOM, step):
        count = min(step, N_RANDOM - start)
        rows = [_shuffle(heads, row, count, random) for heads, row in pairs]
        apart = [jensen_shannon(heads, row[:, None]) for (heads, _row), row in zip(pairs, rows, strict=True)]
        by_chance += int((np.mean(apart, 0).min(-1) <= mean[nearest[0]]).sum())
    return NearestHeads(tuple(NearHead(*places[int(i)], float(mean[i])) for i in nearest), by_chance)


def _normalise(rows: Floats) -> Floats:
    total = rows.sum(-1, keepdims=True)
    return np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)


def _shuffle(heads: Floats, row: Floats, count: int, random: np.random.Generator) -> Floats:
    """So many rows (count, K) with the numbers of `row` on other words."""
    visible = np.flatnonzero((heads.max(0) > 0) | (row > 0))
    largest = int(np.flatnonzero(visible == row.argmax())[0])
    order = np.tile(np.arange(len(visible)), (count, 1))
    random.permuted(order, axis=1, out=order)
    if len(visible) > 1:  # where the largest stayed, it changes places with another
        stayed = np.flatnonzero(order[:, largest] == largest)
        other = (largest + random.integers(1, len(visible), len(stayed))) % len(visible)
        order[stayed, largest], order[stayed, other] = order[stayed, other], order[stayed, largest]
    shuffled = np.zeros((count, len(row)))
    shuffled[:, visible] = row[visible][order]
    return shuffled


def nearest_heads(
    trace: Trace | Sequence[Trace],
    rows: Mapping[int, ArrayLike] | Sequence[Mapping[int, ArrayLike]],
    most: int = 5,
    seed: int = 0,
) -> NearestHeads:
    """The heads of a model that look most as `rows` do, and how near chance comes.

    `rows` has for each query position a weight for each key, of any size: they are divided by their sum. Of several
    sentences it is a list, as long as the list of their traces. Layers that look at other keys than the first are left
    out. Raises a Problem for a row that fits no layer or is empty.
    """
    traces = list(trace) if isinstance(trace, Sequence) else [trace]
    tables = list(rows) if isinstance(rows, Sequence) else [rows]
    if len(traces) != len(tables) or not any(tables):
        raise Problem(
            "{rows} tables of rows for {traces} traces: each trace needs one.", rows=len(tables), traces=len(traces)
        )
    places: list[tuple[int, int]] = []
    pairs = []
    for one, table in zip(traces, tables, strict=True):
        layers = [(i, la) for i, la in enumerate(one.layers) if la.shape[2:] == one.layers[0].shape[2:]]
        places = [(i, head) for i, layer in layers for head in range(layer.n_heads)]
        weights = np.concatenate([layer.weights()[0].double().numpy(force=True) for _i, layer in layers])
        for query, values in table.items():
            row = np.asarray(values, float)
            if (
                not 0 <= query < weights.shape[1]
                or row.shape != weights.shape[2:]
                or not row.sum() > 0
                or row.min() < 0
            ):
                raise Problem(
                    "A row for query {query} must have {count} weights, none below 0 and not all 0.",
                    query=query,
                    count=weights.shape[2],
                )
            pairs.append((weights[:, query], row))
    if len({len(heads) for heads, _row in pairs}) > 1:
        raise Problem("The traces are of models with different numbers of heads.")
    return compare_rows(places, pairs, most, seed)
