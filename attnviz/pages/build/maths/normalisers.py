"""Why softmax: the same scores turned into weights in six ways, and what each way breaks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

#: Ids of the ways to make weights from one row of scores, in the order in which they are shown.
NORMALISERS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda s: s.softmax(-1),
    "argmax": lambda s: torch.nn.functional.one_hot(s.argmax(-1), s.shape[-1]).to(s.dtype),
    "plain": lambda s: s,
    "share": lambda s: s / s.sum(-1, keepdim=True),
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
}
COPIES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Measures:
    """What one normaliser does to one query's scores; K keys, values Dv wide."""

    weights: np.ndarray  #: (K,)
    gradient: float  #: norm of d output / d scores: 0 means nothing can be learned from this row
    shift: float  #: how far the output moves when every score grows by 1
    growth: np.ndarray  #: norm of the output when every key is repeated, once for each number in COPIES


def run(scores: np.ndarray, values: np.ndarray) -> dict[str, Measures]:
    """Every normaliser on one query's `scores` (K,), taken before the mask, and the keys' `values` (K, Dv)."""
    s, v = torch.tensor(scores, dtype=torch.float64), torch.tensor(values, dtype=torch.float64)
    return {name: _measure(make, s, v) for name, make in NORMALISERS.items()}


def _measure(make: Callable[[Tensor], Tensor], scores: Tensor, values: Tensor) -> Measures:
    weights = make(scores)
    output = weights @ values
    growth = [float((make(scores.repeat(n)) @ values.repeat(n, 1)).norm()) for n in COPIES]
    return Measures(
        weights.numpy(),
        _gradient(make, scores, values),
        float((make(scores + 1) @ values - output).norm()),
        np.array(growth),
    )


def _gradient(make: Callable[[Tensor], Tensor], scores: Tensor, values: Tensor) -> float:
    """Frobenius norm of the (Dv, K) Jacobian of the output; 0 where autograd finds no path to the scores."""
    leaf = scores.clone().requires_grad_()
    output = make(leaf) @ values
    if not output.requires_grad:
        return 0.0
    rows = [torch.autograd.grad(o, leaf, retain_graph=True)[0] for o in output]
    return float(torch.stack(rows).norm())
