"""What happens to attention as the number of keys grows: scaled scores dilute, length-aware ones do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from attnviz.core.measures import effective_keys
from attnviz.pages.scaling.maths import alternatives, growing_width

ROWS = 16
WIDEST = 256  #: d_k beyond which scaled scores look the same, and 4,096 keys would take long to draw


@dataclass(frozen=True)
class Config:
    d_k: int = 64
    seed: int = 0
    alternative: str = "log-n"
    parameter: float = 512.0


@dataclass(frozen=True)
class Result:
    """Medians over ROWS queries; all (lengths,)."""

    n_keys: np.ndarray
    effective: np.ndarray  #: exp(entropy), in keys
    largest: np.ndarray  #: largest weight


def run(config: Config) -> Result:
    """The same queries looking at the first 1, 2, 4, ... 4,096 of the same keys, at most WIDEST wide."""
    growing_width.check(growing_width.Config(d_k=config.d_k, seed=config.seed))
    alternatives.check(config.alternative, config.parameter)
    lengths = [2**i for i in range(growing_width.MOST_KEYS.bit_length())]
    generator = torch.Generator().manual_seed(config.seed)
    d_k = min(config.d_k, WIDEST)
    q = torch.randn(1, ROWS, d_k, generator=generator)
    k = torch.randn(1, lengths[-1], d_k, generator=generator)
    effective, largest = [], []
    for n in lengths:
        v = torch.zeros(1, n, 1)
        weights = alternatives.stages(q, k[:, :n], v, config.alternative, config.parameter).weights
        effective.append(float(effective_keys(weights).median()))
        largest.append(float(weights.amax(-1).median()))
    return Result(np.array(lengths), np.array(effective), np.array(largest))
