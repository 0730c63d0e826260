"""How softmax saturates as d_k grows: many rows of weights measured at each d_k, and the limits that theory gives."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.saturation import measure_rows
from attnviz.core.attention import COLDEST, Stages
from attnviz.pages.scaling.maths import alternatives, growing_width

GRID = tuple(2**i for i in range(13))
ALMOST_ONE = 0.99


@dataclass(frozen=True)
class Config:
    """Rows of weights to measure: keys, seed, and one alternative."""

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
    """`bands`, by name:

    largest (largest weight), entropy (nats), effective (exp entropy, keys), jacobian (Frobenius norm of
    d weights / d logits), to_q and to_k (norm of the gradient that reaches q, and all keys, when every value
    sends back an independent standard normal number), score (largest logit).
    certain: share of rows whose largest weight is over ALMOST_ONE, between its 95% Wilson bounds.
    """

    config: Config
    d_k: np.ndarray  #: (grid,)
    rows: int  #: rows of weights measured at each d_k
    bands: dict[str, Band]


def run(config: Config, vectors: growing_width.Vectors | None = None) -> Result:
    """Every measure at every d_k of GRID, on the same vectors (see `growing_width`) cut off at each."""
    alternatives.check(config.alternative, config.parameter)
    vectors = vectors or growing_width.draw(config.n_keys, config.seed)
    q, k, sent = vectors.q, vectors.k, vectors.sent
    v = torch.zeros(*k.shape[:-1], 1)
    measured = []
    for d in GRID:
        stages = alternatives.stages(q[..., :d], k[..., :d], v, config.alternative, config.parameter)
        measured.append(_measure(stages, q[..., :d], k[..., :d], sent, config))
    values = {name: torch.stack([measures[name].flatten() for measures in measured]) for name in measured[0]}
    bands = {
        name: _shares(samples) if name == "certain" else _band(samples.double()) for name, samples in values.items()
    }
    return Result(config, np.array(GRID), values["largest"].shape[1], bands)


def nearest_on_grid(d_k: int) -> int:
    """The index in GRID of the nearest d_k."""
    return int(np.argmin(np.abs(np.log(np.array(GRID) / d_k))))


# What theory says, without drawing any vectors.
def measure_equal_weights(n_keys: int) -> dict[str, float]:
    """Measures of a row when all weights are equal."""
    return {
        "largest": 1 / n_keys,
        "entropy": math.log(n_keys),
        "effective": float(n_keys),
        "jacobian": math.sqrt(n_keys - 1) / n_keys,
    }


def predicted_entropy(n_keys: int, variance: np.ndarray) -> np.ndarray:
    """ln n - s/2 for normal scores of variance s, until s = 2 ln n, then 0: exact as n grows (random energy model)."""
    return np.maximum(math.log(n_keys) - variance / 2, 0.0)


def largest_of_normals(n: int) -> float:
    """Mean of the largest of n independent standard normals: the integral of x n phi(x) Phi(x)^(n-1)."""
    x = torch.linspace(-12, 12, 24_001, dtype=torch.float64)
    log_density = math.log(n) - x**2 / 2 - math.log(2 * math.pi) / 2 + (n - 1) * torch.special.log_ndtr(x)
    return float(torch.trapezoid(x * log_density.exp(), x))


def _measure(stages: Stages, q: Tensor, k: Tensor, sent: Tensor, config: Config) -> dict[str, Tensor]:
    rows = measure_rows(stages)
    to_q, to_k = gradient_norms(stages, q, k, sent, config.alternative, config.parameter)
    return rows | {"certain": rows["largest"] > ALMOST_ONE, "to_q": to_q, "to_k": to_k}


def gradient_norms(
    stages: Stages, q: Tensor, k: Tensor, sent: Tensor, alternative: str, parameter: float
) -> tuple[Tensor, Tensor]:
    """Norms (S, 1, R) of the gradients of sum(weights * sent) by each row's q, and by all keys, row by row.

    By hand rather than by autograd, which would add up the rows that share keys; tests compare the two.
    """
    p = stages.weights
    at_logits = p * (sent - (p * sent).sum(-1, keepdim=True))  # (S, 1, R, n): the softmax Jacobian times `sent`
    if alternative == "qk-norm":
        return _through_norm(stages.scaled / parameter, at_logits * parameter, q, k)
    at_scores = at_logits * _slope(stages, alternative, parameter, q.shape[-1], k.shape[-2])
    to_q = torch.linalg.vector_norm(at_scores @ k, dim=-1)
    return to_q, torch.linalg.vector_norm(at_scores, dim=-1) * torch.linalg.vector_norm(q, dim=-1)


def _slope(stages: Stages, alternative: str, parameter: float, d_k: int, n_keys: int) -> Tensor | float:
    """d logit / d (q.k)."""
    root = 1 / math.sqrt(d_k)
    match alternative:
        case "raw":
            return 1.0
        case "temperature":
            return root / parameter if parameter > COLDEST else 0.0
        case "inverse":
            return parameter / d_k
        case "softcap":
            return root * (1 - (stages.scaled / parameter) ** 2)
        case "log-n":
            return root * math.log(n_keys) / math.log(parameter)
    return root


def _through_norm(cosines: Tensor, at_cosines: Tensor, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """The same norms through q/|q| and k/|k|: only the part of a change that is perpendicular to a vector turns it."""
    q_length = torch.linalg.vector_norm(q, dim=-1)  # (S, 1, R)
    k_length = torch.linalg.vector_norm(k, dim=-1)  # (S, 1, n)
    pull = (at_cosines / k_length[..., None, :]) @ k  # (S, 1, R, D)
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


def program(config: growing_width.Config, parameters: Mapping[str, float]) -> str:
    """Prints the row of section 1, and the medians of its curves at the measured d_k that is nearest.

    `parameters`: of each way that is shown, raw and scaled among them.
    """
    return f"""\
import torch
from attnviz.core.measures import effective_keys, entropy, jacobian_norm
from attnviz.pages.scaling.maths import alternatives, growing_width, saturation

parameters = {dict(parameters)}
vectors = growing_width.draw({config.n_keys}, {config.seed})  # sets of queries that share keys
q, k = vectors.q[0, :, :1, :{config.d_k}], vectors.k[0, :, :, :{config.d_k}]  # one query, all its keys
row, medians, means, at = {{}}, {{}}, {{}}, saturation.nearest_on_grid({config.d_k})
d = saturation.GRID[at]  # the measured d_k that is nearest
for way, parameter in parameters.items():
    p = alternatives.stages(q, k, k, way, parameter).weights[0, 0].double()  # the softmax of its scores
    row[way] = (p.max().item(), entropy(p).item(), effective_keys(p).item(), jacobian_norm(p).item())
    print(way, "largest weight %.6f, entropy %.6f, effective keys %.4f, norm of the Jacobian %.4f" % row[way])
    bands = saturation.run(saturation.Config({config.n_keys}, {config.seed}, way, parameter), vectors).bands
    medians[way] = {{name: band.middle[at].item() for name, band in bands.items()}}
    means[way] = {{name: bands[name].mean[at].item() for name in ("to_q", "to_k")}}
    print(f"  at d_k = {{d}}, medians", {{name: f"{{x:.3g}}" for name, x in medians[way].items()}})
    print(f"  means of the gradients: {{means[way]['to_q']:.2g}}, {{means[way]['to_k']:.2g}}")
"""


def program_of_all(config: growing_width.Config, parameters: Mapping[str, float]) -> str:
    """Program of section 3, with every alternative; and the effective keys over 4,096 keys."""
    return f"""\
{program(config, parameters)}
effective = {{}}  # of other queries, over 4,096 keys
for way in ("raw", "sqrt", "log-n", "qk-norm"):
    d_k, seed = {min(config.d_k, alternatives.WIDEST)}, {config.seed}
    effective[way] = alternatives.spread_over_lengths(d_k, seed, way, parameters[way])[-1].item()
    print(f"{{way}}: over 4,096 keys as spread as {{effective[way]:,.0f}}")
"""
