"""Why q.k grows: the variance of a dot product of two random vectors, measured beside d_k and beside 1.

Every distribution of the components has variance 1, so that the textbook argument (mean 0, variance 1, all
independent) predicts a variance of d_k for q.k. The last two each break one of its assumptions.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from attnviz.base.message import Problem, require_one_of, require_within
from attnviz.core.attention import scale_factor

LARGEST_D_K = 4096
MOST_PAIRS = 1_000_000
MOST_NUMBERS = 820_000_000  #: components of q in all: some seconds of drawing
BLOCK = 6_400_000  #: components of q drawn at a time: at d_k 64 that is 100,000 pairs
SLOW_BLOCK = 2_400_000  #: the same where a component takes longer to draw
GRID = tuple(2**i for i in range(13))
GRID_PAIRS = 500
BINS = 81
REACH = 5.0  #: the histograms cover this many predicted standard deviations either side


def normal(shape: tuple[int, ...], generator: Generator) -> Tensor:
    return torch.randn(shape, generator=generator)


def uniform(shape: tuple[int, ...], generator: Generator) -> Tensor:
    """Even between -sqrt 3 and sqrt 3: variance 1."""
    return torch.rand(shape, generator=generator).sub_(0.5).mul_(2 * math.sqrt(3))


def rademacher(shape: tuple[int, ...], generator: Generator) -> Tensor:
    """-1 or 1, evenly."""
    return torch.randint(0, 2, shape, generator=generator, dtype=torch.float32).mul_(2).sub_(1)


def heavy_tailed(shape: tuple[int, ...], generator: Generator) -> Tensor:
    """Student's t with 4 degrees of freedom over sqrt 2: variance 1, and no fourth moment.

    Bailey's polar form (1994): sqrt(nu (u^(-2/nu) - 1)) cos(2 pi w) is t with nu degrees of freedom.
    """
    u = torch.rand(shape, generator=generator).neg_().add_(1)  # in (0, 1]
    w = torch.rand(shape, generator=generator)
    return u.rsqrt_().sub_(1).mul_(4).sqrt_().mul_(w.mul_(2 * math.pi).cos_()).div_(math.sqrt(2))


_COMPONENTS: dict[str, Callable[[tuple[int, ...], Generator], Tensor]] = {
    "normal": normal,
    "uniform": uniform,
    "rademacher": rademacher,
    "heavy-tailed": heavy_tailed,
    "correlated": normal,
    "shifted": normal,
}
#: Ids, in the order in which they are shown.
DISTRIBUTIONS = tuple(_COMPONENTS)
#: Distributions that break an assumption, and what their `strength` is: a correlation, or a mean.
BROKEN = {"correlated": (-1.0, 1.0), "shifted": (-2.0, 2.0)}


@dataclass(frozen=True)
class Moments:
    """Mean and variance of one product q_i k_i, and the excess kurtosis of that product (None: infinite)."""

    mean: float
    variance: float
    kurtosis: float | None


def moments(distribution: str, strength: float = 0.0) -> Moments:
    """Moments of q_i k_i in closed form: mean 0 and variance 1 for independent q_i and k_i of mean 0 and variance 1.

    Correlated normals with E[q k] = r: mean r, variance 1 + r^2. Means of m for both: mean m^2, variance 1 + 2 m^2.
    """
    square = strength**2
    if distribution == "correlated":
        return Moments(strength, 1 + square, (6 + 36 * square + 6 * square**2) / (1 + square) ** 2)
    if distribution == "shifted":
        return Moments(square, 1 + 2 * square, (6 + 24 * square) / (1 + 2 * square) ** 2)
    fourth = {"normal": 3.0, "uniform": 1.8, "rademacher": 1.0, "heavy-tailed": None}[distribution]
    return Moments(0.0, 1.0, None if fourth is None else fourth**2 - 3)


def draw_pair(
    distribution: str, strength: float, shape: tuple[int, ...], generator: Generator
) -> tuple[Tensor, Tensor]:
    """Queries, then keys, of one shape, from one generator: all of q first, then all of k."""
    require_one_of("distribution", distribution, DISTRIBUTIONS)
    low, high = BROKEN.get(distribution, (-math.inf, math.inf))
    if not low <= strength <= high:
        raise Problem(
            "{distribution}: {strength} must lie between {low} and {high}",
            distribution=distribution,
            strength=strength,
            low=low,
            high=high,
        )
    q, k = (_COMPONENTS[distribution](shape, generator) for _ in "qk")
    if distribution == "correlated":
        k.mul_(math.sqrt(1 - strength**2)).add_(q, alpha=strength)
    if distribution == "shifted":
        q, k = q.add_(strength), k.add_(strength)
    return q, k


@dataclass(frozen=True)
class Config:
    """Random pairs of vectors to draw: width, number, seed, and distribution."""

    d_k: int = 64
    pairs: int = 100_000
    seed: int = 0
    distribution: str = "normal"
    strength: float = 0.0  #: the correlation of "correlated", the mean of "shifted"


@dataclass(frozen=True)
class Spread:
    """Measured mean and variance (1/n) of some numbers, beside the predictions."""

    mean: float
    variance: float
    variance_error: float  #: sampling error of the variance, in closed form; infinite without a fourth moment
    textbook: float  #: variance if mean 0, variance 1, all independent
    exact_mean: float  #: in closed form, for the distribution really drawn
    exact_variance: float
    counts: np.ndarray  #: (bins,) density in each bin
    edges: np.ndarray  #: (bins + 1,)

    @property
    def deviation(self) -> float:
        """Distance of the measured variance from the textbook's, in sampling errors."""
        return (self.variance - self.textbook) / self.variance_error if self.variance_error else 0.0


@dataclass(frozen=True)
class Result:
    """Spread of the dot products so far, raw and scaled."""

    config: Config
    pairs: int  #: drawn so far
    raw: Spread
    scaled: Spread

    @property
    def complete(self) -> bool:
        return self.pairs == self.config.pairs


@dataclass(frozen=True)
class Growth:
    """The variance of raw q.k over d_k = GRID, `GRID_PAIRS` pairs; the same pairs, cut off at each d_k."""

    d_k: np.ndarray
    raw: np.ndarray
    error: np.ndarray  #: sampling error of `raw`
    exact: np.ndarray  #: in closed form


def first_result(config: Config) -> Result:
    """The result on the pairs of the first block: quick at any d_k."""
    return next(draw(config))


def draw(config: Config) -> Iterator[Result]:
    """Results on more and more pairs, the last one on all of them.

    Pairs are drawn in blocks of `per_block` pairs: all queries of a block, then all its keys.
    """
    require_within(config, {"d_k": (1, LARGEST_D_K), "pairs": (1, most_pairs(max(1, config.d_k)))})
    generator = torch.Generator().manual_seed(config.seed)
    products: list[Tensor] = []
    for start in range(0, config.pairs, pairs_per_block(config)):
        size = min(pairs_per_block(config), config.pairs - start)
        q, k = draw_pair(config.distribution, config.strength, (size, config.d_k), generator)
        products.append(q.mul_(k).sum(-1))  # (size,), in place: a block is large
        del q, k
        yield _result(config, torch.cat(products))


def most_pairs(d_k: int) -> int:
    """The largest number of pairs that may be asked for at this d_k."""
    return min(MOST_PAIRS, MOST_NUMBERS // d_k)


def pairs_per_block(config: Config) -> int:
    """Pairs per block."""
    return max(1, (SLOW_BLOCK if config.distribution == "heavy-tailed" else BLOCK) // config.d_k)


def growth(seed: int = 0, distribution: str = "normal", strength: float = 0.0) -> Growth:
    """The variance of q.k for every d_k in GRID, and its sampling error."""
    q, k = draw_pair(distribution, strength, (GRID_PAIRS, GRID[-1]), torch.Generator().manual_seed(seed))
    cumulative = (q * k).cumsum(-1)[:, [d - 1 for d in GRID]].double()  # (pairs, d_k)
    variance, error = _variance(cumulative)
    d_k = np.array(GRID)
    return Growth(d_k, variance.numpy(), error.numpy(), d_k * moments(distribution, strength).variance)


def _result(config: Config, scores: Tensor) -> Result:
    expected, d_k = moments(config.distribution, config.strength), config.d_k
    scale = scale_factor("sqrt", d_k)
    step = 2.0 if config.distribution == "rademacher" else 0.0  # sums of d_k signs: even or odd numbers only
    error = _relative_error(len(scores), None if expected.kurtosis is None else expected.kurtosis / d_k)
    raw = _spread(scores, float(d_k), expected.mean * d_k, expected.variance * d_k, error, (step, d_k))
    scaled = _spread(
        scores * scale, 1.0, expected.mean * math.sqrt(d_k), expected.variance, error, (step * scale, d_k * scale)
    )
    return Result(config, len(scores), raw, scaled)


def _relative_error(n: int, kurtosis: float | None) -> float:
    """Standard error of the 1/n variance of n independent numbers of this excess kurtosis, over their true variance.

    An error estimated from the numbers themselves is far too small where they are few: of two it is always 0.
    """
    if kurtosis is None:
        return math.inf
    return math.sqrt((n - 1) * (2 * n + (n - 1) * kurtosis) / n**3)


def _spread(
    scores: Tensor, textbook: float, mean: float, variance: float, error: float, lattice: tuple[float, float]
) -> Spread:
    """`error` is that of the variance, over the true variance."""
    wide = scores.double()
    counts, edges = np.histogram(wide.numpy(), bins=_edges(textbook, mean, lattice))
    density = counts / (len(wide) * np.diff(edges))
    measured = float(wide.var(correction=0))
    return Spread(float(wide.mean()), measured, error * variance, textbook, mean, variance, density, edges)


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


def program(config: Config) -> str:
    """Prints mean, deviation and variance, raw and scaled, and the raw variance at every d_k of the curve."""
    return f"""\
import torch
from attnviz.pages.scaling.maths.variance import draw_pair, growth

components, strength, seed = {config.distribution!r}, {config.strength}, {config.seed}
d_k, pairs, block = {config.d_k}, {config.pairs}, {pairs_per_block(config)}
g = torch.Generator().manual_seed(seed)
sizes = [min(block, pairs - start) for start in range(0, pairs, block)]
drawn = (draw_pair(components, strength, (size, d_k), g) for size in sizes)
raw = torch.cat([(q * k).sum(-1) for q, k in drawn])
spread = {{}}
for name, x in (("raw", raw.double()), ("scaled", (raw * d_k**-0.5).double())):
    spread[name] = x.var(correction=0).item()
    print(f"{{name}}: mean {{x.mean():.2g}}, deviation {{spread[name] ** 0.5:.4g}}, variance {{spread[name]:.4f}}")

grown = growth(seed, components, strength)  # the same {GRID_PAIRS} pairs, cut off at each d_k
for d, found in zip(grown.d_k, grown.raw):
    print(f"d_k {{d}}: raw {{found:,.2f}}, scaled {{found / d:.2f}}")
"""
