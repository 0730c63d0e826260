"""How softmax saturates as d_k grows: many rows of weights measured at each d_k, and the limits that theory gives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.core.attention import Stages
from attnviz.core.measures import effective_keys, entropy
from attnviz.core.variants import COLDEST
from attnviz.pages.scaling.maths import alternatives, growing_width

GRID = tuple(2**i for i in range(13))
ALMOST_ONE = 0.99
#: Measures of a row, in the order they are shown.
MEASURES = ("largest", "entropy", "effective", "certain", "jacobian", "to_q", "to_k", "score")


@dataclass(frozen=True)
class Config:
    n_keys: int = 16
    seed: int = 0
    alternative: str = "sqrt"  #: any id of alternatives.ALTERNATIVES, "raw" and "sqrt" among them
    parameter: float = 1.0


@dataclass(frozen=True)
class Band:
    """One measure over d_k: where the middle 80% of rows lie. All (grid,)."""

    low: np.ndarray  #: 10th percentile
    middle: np.ndarray  #: median
    high: np.ndarray  #: 90th percentile
    mean: np.ndarray


@dataclass(frozen=True)
class Result:
    """`bands`, by name in MEASURES:

    largest (largest weight), entropy (nats), effective (exp entropy, keys), jacobian (Frobenius norm of
    d weights / d logits), to_q and to_k (norm of the gradient that reaches q, and all keys, when every value
    sends back an independent standard normal number), score (largest logit).
    certain: share of rows whose largest weight is over ALMOST_ONE, between its 95% Wilson bounds.
    """

    config: Config
    d_k: np.ndarray  #: (grid,)
    rows: int  #: rows of weights measured at each d_k
    bands: dict[str, Band]


@dataclass(frozen=True)
class Limits:
    """What theory says, without drawing any vectors, for n keys and scores that are normal with variance s."""

    n_keys: int
    uniform: dict[str, float]  #: each measure when all weights are equal
    one_hot: dict[str, float]  #: each measure when all weight is on one key
    largest_score: float  #: mean of the largest of n standard normals, exact
    frozen_at: float  #: variance 2 ln n: beyond it a few keys hold all the weight, however large n

    def entropy(self, variance: np.ndarray) -> np.ndarray:
        """ln n - s/2 until s = 2 ln n, then 0: exact as n grows (the random energy model)."""
        return np.maximum(math.log(self.n_keys) - variance / 2, 0.0)


def run(config: Config, vectors: growing_width.Vectors | None = None) -> Result:
    """Every measure at every d_k of GRID, on the same vectors (see `growing_width`) cut off at each."""
    alternatives.check(config.alternative, config.parameter)
    vectors = vectors or growing_width.draw(config.n_keys, config.seed)
    q, k, sent = vectors.q, vectors.k, vectors.sent
    v = torch.zeros(*k.shape[:-1], 1)
    found: dict[str, list[Tensor]] = {name: [] for name in MEASURES}
    for d in GRID:
        made = alternatives.stages(q[..., :d], k[..., :d], v, config.alternative, config.parameter)
        for name, values in _measure(made, q[..., :d], k[..., :d], sent, config).items():
            found[name].append(values.flatten())
    bands = {name: _band(torch.stack(values).double()) for name, values in found.items() if name != "certain"}
    bands["certain"] = _shares(torch.stack(found["certain"]))
    return Result(config, np.array(GRID), found["largest"][0].numel(), bands)


def limits(n_keys: int) -> Limits:
    """The measures of even and of one-hot weights, and the mean of the largest of n normals."""
    n = float(n_keys)
    even = {"largest": 1 / n, "entropy": math.log(n), "effective": n, "jacobian": math.sqrt(n - 1) / n}
    one = {"largest": 1.0, "entropy": 0.0, "effective": 1.0, "jacobian": 0.0, "to_q": 0.0, "to_k": 0.0}
    return Limits(n_keys, even, one, largest_of_normals(n_keys), 2 * math.log(n))


def largest_of_normals(n: int) -> float:
    """Mean of the largest of n independent standard normals: the integral of x n phi(x) Phi(x)^(n-1)."""
    x = torch.linspace(-12, 12, 24_001, dtype=torch.float64)
    log_density = math.log(n) - x**2 / 2 - math.log(2 * math.pi) / 2 + (n - 1) * torch.special.log_ndtr(x)
    return float(torch.trapezoid(x * log_density.exp(), x))


def jacobian_norm(weights: Tensor) -> Tensor:
    """Frobenius norm of diag(p) - p pT for each row p of weights (..., n), without making the matrix."""
    p2 = weights.square().sum(-1)
    p3 = weights.pow(3).sum(-1)
    return (p2 - 2 * p3 + p2**2).clamp_min(0).sqrt()


def _measure(made: Stages, q: Tensor, k: Tensor, sent: Tensor, config: Config) -> dict[str, Tensor]:
    weights = made.weights
    largest = weights.amax(-1)
    to_q, to_k = gradient_norms(made, q, k, sent, config.alternative, config.parameter)
    return {
        "largest": largest,
        "entropy": entropy(weights),
        "effective": effective_keys(weights),
        "certain": largest > ALMOST_ONE,
        "jacobian": jacobian_norm(weights.double()),
        "to_q": to_q,
        "to_k": to_k,
        "score": made.scaled.amax(-1),
    }


def gradient_norms(
    made: Stages, q: Tensor, k: Tensor, sent: Tensor, alternative: str, parameter: float
) -> tuple[Tensor, Tensor]:
    """Norms (S, 1, R) of the gradients of sum(weights * sent) by each row's q, and by all keys, row by row.

    By hand rather than by autograd, which would add up the rows that share keys; tests compare the two.
    """
    p = made.weights
    at_logits = p * (sent - (p * sent).sum(-1, keepdim=True))  # (S, 1, R, n): the softmax Jacobian times `sent`
    if alternative == "qk-norm":
        return _through_norm(made.scaled / parameter, at_logits * parameter, q, k)
    at_scores = at_logits * _slope(made, alternative, parameter, q.shape[-1], k.shape[-2])
    to_q = torch.linalg.vector_norm(at_scores @ k, dim=-1)
    to_k = torch.linalg.vector_norm(at_scores, dim=-1) * torch.linalg.vector_norm(q, dim=-1)
    return to_q, to_k


def _slope(made: Stages, alternative: str, parameter: float, d_k: int, n_keys: int) -> Tensor | float:
    """d logit / d (q.k)."""
    root = 1 / math.sqrt(d_k)
    if alternative == "softcap":
        return root * (1 - (made.scaled / parameter) ** 2)
    if alternative == "temperature":
        return root / parameter if parameter > COLDEST else 0.0
    if alternative == "log-n":
        return root * math.log(n_keys) / math.log(parameter)
    return {"raw": 1.0, "inverse": parameter / d_k}.get(alternative, root)


def _through_norm(cosines: Tensor, at_cosines: Tensor, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """The same norms through q/|q| and k/|k|: only the part of a change that is perpendicular to a vector turns it."""
    q_length = torch.linalg.vector_norm(q, dim=-1)  # (S, 1, R)
    k_length = torch.linalg.vector_norm(k, dim=-1)  # (S, 1, n)
    pull = at_cosines @ (k / k_length[..., None])  # (S, 1, R, D)
    along = (at_cosines * cosines).sum(-1)
    to_q = (pull.square().sum(-1) - along**2).clamp_min(0).sqrt() / q_length
    across = at_cosines.square() * (1 - cosines**2).clamp_min(0) / k_length[..., None, :] ** 2
    return to_q, across.sum(-1).sqrt()


def _band(values: Tensor) -> Band:
    """values (grid, rows)."""
    low, middle, high = torch.quantile(values, torch.tensor([0.1, 0.5, 0.9], dtype=values.dtype), dim=-1)
    return Band(low.numpy(), middle.numpy(), high.numpy(), values.mean(-1).numpy())


def _shares(certain: Tensor) -> Band:
    """Share of True in (grid, rows), and where the true share lies with 95% confidence (Wilson)."""
    n, z = certain.shape[-1], 1.96
    share = certain.double().mean(-1)
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * (share * (1 - share) / n + z**2 / (4 * n**2)).sqrt()
    return Band(
        (centre - half).clamp_min(0).numpy(), share.numpy(), (centre + half).clamp_max(1).numpy(), share.numpy()
    )
