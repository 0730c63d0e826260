"""Where attention blurs: one head averages places, a convolution has a matrix for each. How many heads make up for it?

A convolution adds k tokens, each through a matrix of its own. One head gives each place a weight and sends their
average through one matrix. Put as a table of k places by d x d numbers, H heads are a table of rank H, so that the
singular values say how near they can come (Eckart and Young), and k heads that each look at one place come all the way
(Cordonnier et al. 2020, "On the Relationship between Self-Attention and Convolutional Layers").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from attnviz.base.limits import require_within

LIMITS = {"k": (2, 32), "d": (1, 64)}


@dataclass(frozen=True)
class Config:
    k: int = 5
    d: int = 16
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """Errors are relative: the norm of what is missing over the norm of the convolution's output, for white input."""

    config: Config
    heads: np.ndarray  #: 1 to k
    best: np.ndarray  #: no weights of any sign can do better with so many heads
    pointing: np.ndarray  #: each head looks at one place alone, the most important places first
    average: float  #: one head that looks at all places evenly


def run(config: Config) -> Result:
    require_within(config, LIMITS)
    table = kernel(config).flatten(1)  # (k, d d)
    whole = table.square().sum()
    singular = torch.linalg.svdvals(table).square()
    places = table.square().sum(1).sort(descending=True).values
    even = table - table.mean(0)  # what the best matrix for the average of all places misses
    return Result(
        config,
        np.arange(1, config.k + 1),
        _left(_padded(singular, config.k), whole),
        _left(places, whole),
        float((even.square().sum() / whole).sqrt()),
    )


def kernel(config: Config) -> torch.Tensor:
    """The convolution's matrices (k, d, d), standard normal."""
    generator = torch.Generator().manual_seed(config.seed)
    return torch.randn(config.k, config.d, config.d, generator=generator, dtype=torch.float64)


def _padded(values: torch.Tensor, k: int) -> torch.Tensor:
    """At d = 1 there are fewer singular values than places: the others are 0."""
    return torch.cat([values, values.new_zeros(k - len(values))])


def _left(squares: torch.Tensor, whole: torch.Tensor) -> np.ndarray:
    """Relative norm of what is left after the first 1, 2, ... of the squares are explained."""
    left = squares.flip(0).cumsum(0).flip(0)[1:]  # summed from the end, so that nothing is left of nothing
    errors: np.ndarray = (torch.cat([left, left.new_zeros(1)]) / whole).sqrt().numpy()
    return errors
