"""Why q.k grows: the variance of a dot product of two random vectors, measured beside d_k and beside 1."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.limits import require_within
from attnviz.core.attention import scale_factor
from attnviz.pages.scaling.maths.draws import Moments, moments, pair

LARGEST_D_K = 4096
MOST_PAIRS = 1_000_000
MOST_NUMBERS = 820_000_000  #: components of q in all: some seconds of drawing
BLOCK = 6_400_000  #: components of q drawn at a time: at d_k 64 that is 100,000 pairs
SLOW_BLOCK = 2_400_000  #: the same where a component takes longer to draw
GRID = tuple(2**i for i in range(13))
GRID_PAIRS = 500
BINS = 81
REACH = 5.0  #: the histograms cover this many predicted standard deviations either side


@dataclass(frozen=True)
class Config:
    d_k: int = 64
    pairs: int = 100_000
    seed: int = 0
    distribution: str = "normal"
    strength: float = 0.0  #: the correlation of "correlated", the mean of "shifted"


@dataclass(frozen=True)
class Spread:
    """Measured mean and variance (1/n) of some numbers, with the sampling error of each; beside the predictions."""

    mean: float
    mean_error: float
    variance: float
    variance_error: float  #: sqrt((fourth central moment - variance^2) / n), from the numbers themselves
    textbook: float  #: variance if mean 0, variance 1, all independent
    exact_mean: float  #: in closed form, for the distribution really drawn
    exact_variance: float
    counts: np.ndarray  #: (bins,) density in each bin
    edges: np.ndarray  #: (bins + 1,)
    outside: int  #: how many numbers fell beyond the edges

    @property
    def off(self) -> float:
        """How many sampling errors the measured variance lies from the textbook's."""
        return (self.variance - self.textbook) / self.variance_error if self.variance_error else 0.0


@dataclass(frozen=True)
class Result:
    config: Config
    pairs: int  #: drawn so far
    raw: Spread
    scaled: Spread
    moments: Moments

    @property
    def complete(self) -> bool:
        return self.pairs == self.config.pairs


@dataclass(frozen=True)
class Growth:
    """The variance over d_k, `GRID_PAIRS` pairs; the same pairs, cut off at each d_k."""

    d_k: np.ndarray
    raw: np.ndarray
    raw_error: np.ndarray
    scaled: np.ndarray
    scaled_error: np.ndarray
    exact_raw: np.ndarray
    pairs: int = GRID_PAIRS


def run(config: Config) -> Result:
    """The result on all pairs, drawn block by block."""
    return deque(draw(config), maxlen=1)[0]


def first(config: Config) -> Result:
    """The result on the pairs of the first block: quick at any d_k."""
    return next(draw(config))


def draw(config: Config) -> Iterator[Result]:
    """Results on more and more pairs, the last one on all of them.

    Pairs are drawn in blocks of `per_block` pairs: all queries of a block, then all its keys.
    """
    _check(config)
    generator = torch.Generator().manual_seed(config.seed)
    block = per_block(config)
    seen: list[Tensor] = []
    drawn = 0
    while drawn < config.pairs:
        size = min(block, config.pairs - drawn)
        q, k = pair(config.distribution, config.strength, (size, config.d_k), generator)
        seen.append((q * k).sum(-1))  # (size,)
        drawn += size
        yield _result(config, torch.cat(seen))


def most_pairs(d_k: int) -> int:
    """The largest number of pairs that may be asked for at this d_k."""
    return min(MOST_PAIRS, MOST_NUMBERS // d_k)


def per_block(config: Config) -> int:
    """How many pairs are drawn at a time."""
    return max(1, (SLOW_BLOCK if config.distribution == "heavy-tailed" else BLOCK) // config.d_k)


def growth(seed: int = 0, distribution: str = "normal", strength: float = 0.0) -> Growth:
    """The variance of q.k for every d_k in GRID, and its sampling error."""
    generator = torch.Generator().manual_seed(seed)
    q, k = pair(distribution, strength, (GRID_PAIRS, GRID[-1]), generator)
    running = (q * k).cumsum(-1)[:, [d - 1 for d in GRID]].double()  # (pairs, d_k)
    variance, error = _variance(running)
    d_k = np.array(GRID)
    raw, raw_error = variance.numpy(), error.numpy()
    each = moments(distribution, strength).variance
    return Growth(d_k, raw, raw_error, raw / d_k, raw_error / d_k, d_k * each)


def _result(config: Config, scores: Tensor) -> Result:
    each = moments(config.distribution, config.strength)
    d_k = config.d_k
    scale = scale_factor("sqrt", d_k)
    step = 2.0 if config.distribution == "rademacher" else 0.0  # sums of d_k signs: even or odd numbers only
    raw = _spread(scores, float(d_k), each.mean * d_k, each.variance * d_k, (step, d_k))
    scaled = _spread(scores * scale, 1.0, each.mean * math.sqrt(d_k), each.variance, (step * scale, d_k * scale))
    return Result(config, len(scores), raw, scaled, each)


def _spread(scores: Tensor, textbook: float, mean: float, variance: float, lattice: tuple[float, float]) -> Spread:
    wide = scores.double()
    measured, error = _variance(wide[:, None])
    counts, edges = np.histogram(wide.numpy(), bins=_edges(textbook, mean, lattice))
    return Spread(
        float(wide.mean()),
        math.sqrt(float(measured) / len(wide)),
        float(measured),
        float(error),
        textbook,
        mean,
        variance,
        counts / (len(wide) * np.diff(edges)),
        edges,
        int(len(wide) - counts.sum()),
    )


def _edges(textbook: float, mean: float, lattice: tuple[float, float]) -> np.ndarray:
    """Edges of bins that cover REACH predicted standard deviations on either side of 0 and of the mean.

    `lattice` (step, one of its points): numbers that come in steps get bins of whole steps, or some would be empty.
    """
    half = REACH * math.sqrt(textbook)
    low, high = min(-half, mean - half), max(half, mean + half)
    step, point = lattice
    if not step:
        return np.linspace(low, high, BINS + 1)
    width = step * max(1, math.ceil((high - low) / BINS / step))
    start = point - step / 2 - width * math.ceil((point - low) / width)
    return start + width * np.arange(math.ceil((high - start) / width) + 1)


def _variance(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Variance (1/n) down the first axis, and its standard error."""
    centred = scores - scores.mean(0)
    variance = centred.square().mean(0)
    fourth = centred.pow(4).mean(0)
    return variance, ((fourth - variance**2).clamp_min(0) / len(scores)).sqrt()


def _check(config: Config) -> None:
    require_within(config, {"d_k": (1, LARGEST_D_K), "pairs": (1, most_pairs(max(1, config.d_k)))})
