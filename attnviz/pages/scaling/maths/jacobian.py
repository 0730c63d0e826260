"""The gradient that softmax lets through: its Jacobian diag(p) - p pT, by formula and by autograd."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

MOST_SHOWN = 32


@dataclass(frozen=True)
class Result:
    """How each weight changes with each logit; rows and columns in the order of `keys`."""

    keys: np.ndarray  #: (m,) positions of the keys in the row, m = n or, in a long row, the MOST_SHOWN largest weights
    matrix: np.ndarray  #: (m, m) diag(p) - p pT
    autograd: np.ndarray  #: (m, m) the same from autograd
    difference: float  #: largest absolute difference between the two
    eigenvalues: np.ndarray  #: (m,) the largest m of the whole n x n matrix, largest first; at least 0
    norm: float  #: Frobenius norm of the whole n x n matrix
    shown: float  #: share of the weight that the shown keys hold

    @property
    def largest(self) -> float:
        """The largest eigenvalue: no change of the logits, of length 1, moves the weights further. At most 1/2."""
        return float(self.eigenvalues[0])


def run(logits: np.ndarray) -> Result:
    """The Jacobian of softmax at `logits` (n,), in float64."""
    z = torch.tensor(logits, dtype=torch.float64)
    p = z.softmax(-1)
    keys = p.topk(min(len(p), MOST_SHOWN)).indices.sort().values
    matrix = by_formula(p[keys])
    auto = by_autograd(z, keys)
    eigenvalues = largest_eigenvalues(p, len(keys))
    square = p.square().sum()
    norm = (square - 2 * p.pow(3).sum() + square**2).clamp_min(0).sqrt()
    return Result(
        keys.numpy(),
        matrix.numpy(),
        auto.numpy(),
        float((matrix - auto).abs().max()),
        eigenvalues.numpy(),
        float(norm),
        float(p[keys].sum()),
    )


def largest_eigenvalues(p: Tensor, m: int) -> Tensor:
    """The m largest eigenvalues of diag(p) - p pT, without making the matrix: (m,).

    They lie between the weights in descending order: the i-th between the i-th and the next one. Between two of
    them 1 - sum p^2 / (p - x) falls from +infinity to -infinity, and is 0 at the eigenvalue: it is halved down to.
    The last of all is 0.
    """
    falling = p.sort(descending=True).values
    high, low = falling[:m].clone(), torch.cat([falling[1:], falling.new_zeros(1)])[:m].clone()
    for _ in range(120):
        middle = (low + high) / 2
        rest = 1 - (falling.square() / (falling - middle[:, None])).nan_to_num(0, 0, 0).sum(-1)
        above = rest > 0  # the eigenvalue is larger
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return low.masked_fill(torch.arange(1, m + 1) == len(p), 0.0)


def by_formula(p: Tensor) -> Tensor:
    """diag(p) - p pT for weights p (m,)."""
    return torch.diag(p) - torch.outer(p, p)


def by_autograd(logits: Tensor, keys: Tensor) -> Tensor:
    """d weights[keys] / d logits[keys] for logits (n,), one backward pass for each row: (m, m)."""
    leaf = logits.clone().requires_grad_()
    weights = leaf.softmax(-1)
    rows = [torch.autograd.grad(weights[key], leaf, retain_graph=True)[0][keys] for key in keys]
    return torch.stack(rows)
