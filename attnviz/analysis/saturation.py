"""Why scores are divided by the square root of d_k: rows of weights on random vectors, at each width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnviz.base.extras import load_figures, pandas
from attnviz.base.message import Problem, require_between
from attnviz.core.attention import Scale, Stages, attend
from attnviz.core.measures import effective_keys, entropy, jacobian_norm

LARGEST_D_K = 4096
MOST_KEYS = 4096
MOST_SETS = 16  #: sets of keys that are drawn, at most
ROWS = 16  #: queries that look at each set of keys, at most
KEY_NUMBERS = 2_100_000  #: components of keys drawn in all: fewer sets when there are more keys


@dataclass(frozen=True)
class Vectors:
    """S sets of n keys, and R queries for each set, D = LARGEST_D_K, standard normal."""

    q: Tensor  #: (S, 1, R, D)
    k: Tensor  #: (S, 1, n, D)
    sent: Tensor  #: (S, 1, R, n): the gradient that arrives at each weight, standard normal too


def draw(n_keys: int, seed: int) -> Vectors:
    """Random vectors of this seed, set by set: queries, keys, `sent`. The row of bars shows the first query.

    There are fewer sets, and fewer queries for each, where there are more keys, so that drawing stays quick.
    """
    require_between("n_keys", n_keys, 1, MOST_KEYS)
    generator = torch.Generator().manual_seed(seed)
    sets = max(1, min(MOST_SETS, KEY_NUMBERS // (n_keys * LARGEST_D_K)))
    rows = min(ROWS, max(4, 32_768 // n_keys))
    shapes = (rows, LARGEST_D_K), (n_keys, LARGEST_D_K), (rows, n_keys)
    vectors = [torch.empty(sets, 1, *shape) for shape in shapes]
    for numbers in zip(*vectors, strict=True):  # those of a set: drawn in place, of the largest one has no room for two
        for tensor in numbers:
            tensor.normal_(generator=generator)
    return Vectors(*vectors)


def measure_rows(stages: Stages) -> dict[str, Tensor]:
    """Measures of each row, (..., Q): largest weight and score, entropy in nats, effective keys, softmax Jacobian."""
    weights = stages.weights
    return {
        "largest": weights.amax(-1),
        "entropy": entropy(weights),
        "effective": effective_keys(weights),
        "jacobian": jacobian_norm(weights.double()),
        "score": stages.scaled.amax(-1),
    }


if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Saturation:
    """Measures of many rows of weights at each d_k, (number of d_k, rows) each.

    `variance` is that of the softmax's inputs. `measures` are "largest" (the largest weight), "entropy" (nats),
    "effective" (exp of it, in keys), "jacobian" (Frobenius norm of d weights / d scores) and "score" (the largest).
    """

    d_k: tuple[int, ...]
    scale: Scale
    n_keys: int
    variance: Tensor  #: (number of d_k,)
    measures: dict[str, Tensor]

    @property
    def mean(self) -> dict[str, Tensor]:
        """Mean of each measure over all rows, (number of d_k,)."""
        return {"variance": self.variance} | {name: rows.mean(-1) for name, rows in self.measures.items()}

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each d_k with the means of all measures. Needs pandas."""
        columns = {name: values.tolist() for name, values in self.mean.items()}
        return pandas().DataFrame({"d_k": list(self.d_k)} | columns)

    def plot(self) -> Any:
        """A Plotly figure: variance, largest weight and entropy over d_k, with the middle 80% of rows."""
        bands = {"variance": (self.variance.numpy(),) * 3}
        for name in ("largest", "entropy"):
            low, middle, high = self.measures[name].double().quantile(torch.tensor([0.1, 0.5, 0.9]).double(), -1)
            bands[name] = (low.numpy(), middle.numpy(), high.numpy())
        return load_figures("library_charts").draw_over_d_k(self.d_k, bands)

    def __repr__(self) -> str:
        means = zip(self.d_k, self.mean["largest"].tolist(), self.mean["entropy"].tolist(), strict=True)
        lines = [f"  d_k {d}: largest weight {largest:.3f}, entropy {spread:.3f}" for d, largest, spread in means]
        head = f"Saturation over {self.n_keys} keys, scale={self.scale}"
        return "\n".join([head, *lines[:8], *(["  ..."] if len(lines) > 8 else [])])


def saturation(
    d_k: int | Sequence[int] = (16, 64, 256), scale: Scale = None, n_keys: int = 16, seed: int = 0
) -> Saturation:
    """How far softmax saturates on random queries and keys of each width `d_k`.

    `scale` is that of `attend`: None leaves the scores as they are, "sqrt" divides them by the square root of d_k. The
    vectors are standard normal, the same at each width but cut off there.
    """
    widths = tuple(d_k) if isinstance(d_k, Sequence) else (d_k,)
    if not widths or not all(isinstance(d, int) and 1 <= d <= LARGEST_D_K for d in widths):
        raise Problem("d_k={d_k} must be whole numbers from 1 to {most}", d_k=str(d_k)[:60], most=LARGEST_D_K)
    vectors, measured, variances = draw(n_keys, seed), [], []
    nothing = vectors.k.new_zeros(*vectors.k.shape[:-1], 1)
    for d in widths:
        stages = attend(vectors.q[..., :d], vectors.k[..., :d], nothing, scale=scale)
        variances.append(stages.scaled.var())
        measured.append(measure_rows(stages))
    rows = {name: torch.stack([measures[name].flatten() for measures in measured]) for name in measured[0]}
    return Saturation(widths, scale, n_keys, torch.stack(variances), rows)
