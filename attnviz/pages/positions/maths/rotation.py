"""RoPE: one pair of numbers rotated by its positions, and texts longer than trained under each scaling."""

import inspect
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import require_one_of, require_within
from attnviz.core.rope import NTK, DynamicNTK, Linear, Llama3, Scaling, YaRN, frequencies, length_factor

# Texts longer than trained: what each scaling of RoPE does to the wavelengths, and to scores over distance.
METHODS = ("none", "linear", "ntk", "dynamic", "yarn", "llama3")
POINTS = 160  #: of the curve over distance
SAMPLES = 32  #: distances, evenly spread, whose mean a point is


@dataclass(frozen=True)
class LongerConfig:
    """One scaling, how many times longer the text is, and the trained head."""

    method: str = "yarn"
    factor: float = 4.0
    length: int = 4096  #: positions seen in training
    width: int = 128  #: D
    base: float = 10_000.0

    @property
    def target(self) -> int:
        """The length in positions that the scaling is for."""
        return round(self.factor * self.length)


@dataclass(frozen=True)
class ScaledPairs:
    """Pairs under one scaling, at `factor` times the trained length."""

    wavelengths: np.ndarray  #: (D/2,) positions for one turn
    n_new_angles: int  #: pairs that reach angles which they never had in training
    n_slowed: int  #: pairs whose angle between neighbouring positions shrank by more than 1%
    neighbours: float  #: by how much the fastest pair's angle between neighbours shrank: 1 is not at all
    length: float  #: factor by which q and k are longer
    n_unfinished: int  #: pairs that do not complete a turn within the trained length


@dataclass(frozen=True)
class LongerResult:
    """Every scaling, and the scores over distance of the chosen one."""

    config: LongerConfig
    methods: dict[str, ScaledPairs]
    distance: np.ndarray  #: (points,) the middle of each stretch, from 0 to the target length
    plain: np.ndarray  #: (points,) q.k of equal vectors of ones, over sqrt(D), as trained: the mean over the stretch
    chosen: np.ndarray  #: the same with the chosen scaling


def make_scaling(method: str, config: LongerConfig) -> Scaling:
    """The scaling with that id. The dynamic one is for a text of the target length."""
    scalings: dict[str, Scaling] = {
        "none": None,
        "linear": Linear(config.factor),
        "ntk": NTK(config.factor),
        "dynamic": DynamicNTK(config.factor, config.length, config.target),
        "yarn": YaRN(config.factor, config.length),
        "llama3": Llama3(config.factor, config.length),
    }
    return scalings[require_one_of("method", method, METHODS)]


def compare_scalings(config: LongerConfig) -> LongerResult:
    """Compare all scalings, and compute the chosen one's scores over distance."""
    require_within(config, {"factor": (1, 128), "length": (2, 1_000_000), "width": (2, 1024), "base": (2, 1e9)})
    plain = frequencies(config.width, config.base)
    methods = {method: scale_pairs(config, method, plain) for method in METHODS}
    distance = sample_distances(config)
    chosen = frequencies(config.width, config.base, make_scaling(config.method, config))
    grown = methods[config.method].length ** 2
    return LongerResult(
        config,
        methods,
        distance.mean(-1).numpy(),
        _mean_score(plain, distance, config.width).numpy(),
        (_mean_score(chosen, distance, config.width) * grown).numpy(),
    )


def sample_distances(config: LongerConfig) -> Tensor:
    """Sampled distances from 0 to the target length, (points, SAMPLES)."""
    edges = torch.linspace(0, config.target, min(POINTS, config.target) + 1, dtype=torch.float64)
    within = (torch.arange(SAMPLES, dtype=torch.float64) + 0.5) / SAMPLES
    return (edges[:-1, None] + edges.diff()[:, None] * within).floor()


def scale_pairs(config: LongerConfig, method: str, plain: Tensor) -> ScaledPairs:
    """Effect of a scaling on pairs that rotate by `plain` radians per position without it."""
    scaling = make_scaling(method, config)
    turns = frequencies(config.width, config.base, scaling)
    seen = plain * config.length  # the largest angle in training
    reached = turns * config.factor * config.length
    new = (seen < 2 * math.pi) & (reached > seen * (1 + 1e-9))  # a pair that completed a turn knows all angles
    ratio = turns / plain
    return ScaledPairs(
        (2 * math.pi / turns).numpy(),
        int(new.sum()),
        int((ratio < 0.99).sum()),
        float(ratio[0]),
        length_factor(scaling),
        int((2 * math.pi / turns > config.length).sum()),
    )


def _mean_score(turns: Tensor, distance: Tensor, width: int) -> Tensor:
    """q.k / sqrt(D) of a query and a key of ones, mean over each stretch, (points,)."""
    return 2 * (distance[..., None] * turns).cos().sum(-1).mean(-1) / math.sqrt(width)


def longer_program(config: LongerConfig) -> str:
    """Program that prints the wavelengths and new angles under every scaling."""
    return f"""\

import math

from attnviz.core.rope import frequencies, length_factor
from attnviz.pages.positions.maths.rotation import METHODS, LongerConfig, ScaledPairs, make_scaling
from torch import Tensor


{inspect.getsource(scale_pairs)}

config = {config!r}
plain = frequencies(config.width, config.base)
for method in METHODS:
    scaled = scale_pairs(config, method, plain)
    waves = scaled.wavelengths
    print(f"{{method:>8}}: one turn in {{waves[0]:.4g}} to {{waves[-1]:,.0f}} positions, ", end="")
    print(f"{{scaled.n_new_angles}} pairs at new angles, {{scaled.n_slowed}} slowed")
"""
