"""Random components of queries and keys: where they come from, and what theory says of their product.

Every distribution has variance 1, so that the textbook argument (mean 0, variance 1, all
independent) predicts a variance of d_k for q.k. The last two each break one of its assumptions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from attnviz.base.message import Problem, Several


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
    check(distribution, strength)
    if distribution == "correlated":
        r2 = strength**2
        return Moments(strength, 1 + r2, (6 + 36 * r2 + 6 * r2**2) / (1 + r2) ** 2)
    if distribution == "shifted":
        m2 = strength**2
        return Moments(m2, 1 + 2 * m2, (6 + 24 * m2) / (1 + 2 * m2) ** 2)
    fourth = {"normal": 3.0, "uniform": 1.8, "rademacher": 1.0, "heavy-tailed": None}[distribution]
    return Moments(0.0, 1.0, None if fourth is None else fourth**2 - 3)


def pair(distribution: str, strength: float, shape: tuple[int, ...], generator: Generator) -> tuple[Tensor, Tensor]:
    """Queries, then keys, of one shape, from one generator: all of q first, then all of k."""
    check(distribution, strength)
    q = _COMPONENTS[distribution](shape, generator)
    k = _COMPONENTS[distribution](shape, generator)
    if distribution == "correlated":
        k.mul_(math.sqrt(1 - strength**2)).add_(q, alpha=strength)
    if distribution == "shifted":
        q.add_(strength)
        k.add_(strength)
    return q, k


def check(distribution: str, strength: float) -> None:
    """Raise a Problem when there is no such distribution, or its strength is out of range."""
    if distribution not in _COMPONENTS:
        raise Problem(
            "distribution={distribution} must be one of {allowed}",
            distribution=distribution,
            allowed=Several(DISTRIBUTIONS),
        )
    low, high = BROKEN.get(distribution, (-math.inf, math.inf))
    if not low <= strength <= high:
        raise Problem(
            "{distribution}: {strength} must lie between {low} and {high}",
            distribution=distribution,
            strength=strength,
            low=low,
            high=high,
        )
