"""Which positions each layer mixes, as a matrix of position by position, and whether that matrix is the same elsewhere.

Cell (i, j) is the norm of d output[i] / d input[j]. A convolution has the same numbers along every diagonal and for
every input: its weights are shared between places and fixed. Attention has neither: it computes how to mix from the
input. A recurrence is in between: its gates depend on the input, its weights do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.limits import require_multiple
from attnviz.base.message import Problem
from attnviz.core.modules import seeded
from attnviz.pages.compare.maths import compared_layers

KINDS = ("attention", "linear", "lstm", "conv")
LONGEST = 48


@dataclass(frozen=True)
class Config:
    n: int = 16
    d: int = 16
    heads: int = 2
    k: int = 3
    seed: int = 0  #: of the weights
    input_seed: int = 1  #: of the first input; the second is the same sequence in another order of its values


@dataclass(frozen=True)
class Mixing:
    """One layer: its matrix for two inputs, and two measures of what is shared."""

    first: np.ndarray  #: (n, n), rows are outputs
    second: np.ndarray
    moved: float  #: |first - second| / |first|: how much the matrix changes with the input
    uneven: float  #: share of the matrix that changes along its diagonals: 0 where every place is treated alike


@dataclass(frozen=True)
class Result:
    config: Config
    mixing: Mapping[str, Mixing]


def run(config: Config) -> Result:
    if not 3 <= config.n <= LONGEST:
        raise Problem("n={n} must lie between 3 and {most} here", n=config.n, most=LONGEST)
    require_multiple("d", config.d, "heads", config.heads)
    generator = torch.Generator().manual_seed(config.input_seed)
    one, two = torch.randn(2, config.n, config.d, generator=generator)
    found = {}
    for kind in KINDS:
        with seeded(config.seed):
            layer = compared_layers.layer(kind, config.d, heads=config.heads, k=config.k)
        first, second = matrix(layer, one), matrix(layer, two)
        moved = float(np.linalg.norm(first - second) / np.linalg.norm(first))
        found[kind] = Mixing(first, second, moved, uneven(first))
    return Result(config, found)


def matrix(layer: nn.Module, x: Tensor) -> np.ndarray:
    """Norm of d layer(x)[i] / d x[j], (n, n), from the full Jacobian."""
    copies = x.shape[-1]
    rows = []
    for i in range(len(x)):
        held = x.expand(copies, *x.shape).clone().requires_grad_()  # copy c: gradient of number c of output i
        (gradient,) = torch.autograd.grad(layer(held)[:, i].diagonal().sum(), held)
        rows.append(gradient.square().sum((0, 2)).sqrt())
    norms: np.ndarray = torch.stack(rows).numpy()
    return norms


def uneven(norms: np.ndarray) -> float:
    """Distance to the nearest matrix with equal numbers along each diagonal, relative to the matrix."""
    even = np.empty_like(norms)
    row, column = np.indices(norms.shape)
    for offset in np.unique(column - row):
        diagonal = column - row == offset
        even[diagonal] = norms[diagonal].mean()
    return float(np.linalg.norm(norms - even) / np.linalg.norm(norms))
