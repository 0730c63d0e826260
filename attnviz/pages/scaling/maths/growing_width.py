"""One query and n keys while d_k grows: the lesson in one picture.

The same vectors are kept and cut off at each d_k, so that growing d_k adds coordinates to them
and nothing else changes. attnviz.pages.scaling.maths.saturation measures many rows, of which this is the first.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.saturation import LARGEST_D_K, MOST_KEYS, Vectors, draw
from attnviz.base.message import require_within
from attnviz.core.attention import attend
from attnviz.core.measures import effective_keys, entropy, jacobian_norm
from attnviz.pages.scaling.maths import alternatives

LIMITS = {"d_k": (1, LARGEST_D_K), "n_keys": (1, MOST_KEYS)}


@dataclass(frozen=True)
class Config:
    """One query and its keys: their sizes, the seed, and the alternative beside raw and scaled."""

    d_k: int = 64
    n_keys: int = 16
    seed: int = 0
    alternative: str = "temperature"
    parameter: float = 2.0


@dataclass(frozen=True)
class WidthRow:
    """The weights that one query gives to n keys, and measures of them."""

    logits: np.ndarray  #: (n,) inputs of softmax
    weights: np.ndarray  #: (n,) sum to 1, or less with a sink
    largest: float  #: the largest weight
    entropy: float  #: nats
    effective: float  #: exp(entropy): how many evenly attended keys have this entropy
    jacobian: float  #: Frobenius norm of d weights / d logits


@dataclass(frozen=True)
class Result:
    """The row of weights at one d_k: raw, scaled, and under the alternative."""

    config: Config
    raw: WidthRow
    scaled: WidthRow
    alternative: WidthRow

    @property
    def rows(self) -> dict[str, WidthRow]:
        """The rows by id: two where the alternative is scaling itself."""
        return {"raw": self.raw, "sqrt": self.scaled, self.config.alternative: self.alternative}


@dataclass(frozen=True)
class Film:
    """Scores and cosines at each d_k of a grid, so that the browser draws without asking the server."""

    d_k: np.ndarray  #: (grid,) whole numbers from 1 to LARGEST_D_K
    scores: np.ndarray  #: (grid, n) raw q.k, float32
    cosines: np.ndarray  #: (grid, n) cosine of the same q and k, float32


def run(config: Config, vectors: Vectors | None = None) -> Result:
    """Raw, scaled and the alternative at one d_k. `vectors`: from `draw`, to save time."""
    require_within(config, LIMITS)
    alternatives.check(config.alternative, config.parameter)
    q, k = _one_query(vectors or draw(config.n_keys, config.seed), config.d_k)
    v = torch.zeros(1, config.n_keys, 1)
    attentions = (alternatives.stages(q, k, v, way, config.parameter) for way in ("raw", "sqrt", config.alternative))
    return Result(config, *(_row(attention.scaled[0, 0], attention.weights[0, 0]) for attention in attentions))


def _one_query(vectors: Vectors, d_k: int) -> tuple[Tensor, Tensor]:
    """The first query (1, 1, d_k) and its keys (1, n, d_k)."""
    return vectors.q[0, :, :1, :d_k], vectors.k[0, :, :, :d_k]


def make_film(n_keys: int, seed: int, also: int = 1, vectors: Vectors | None = None) -> Film:
    """Raw scores and cosines on a grid of d_k, coarser for more keys to bound its size; and at d_k = `also`."""
    require_within(Config(also, n_keys), LIMITS)
    vectors = vectors or draw(n_keys, seed)
    grid = sorted({*film_grid(n_keys), also})
    v = torch.zeros(1, n_keys, 1)
    q, k = _one_query(vectors, LARGEST_D_K)
    cuts = zip([0, *grid], grid, strict=False)  # a dot product grows by its new coordinates
    added = [attend(q[..., a:b], k[..., a:b], v, scale=None).scores[0, 0] for a, b in cuts]
    scores = torch.stack(added).double().cumsum(0).float()  # (grid, n)
    lengths = _lengths(q[0], grid) * _lengths(k[0], grid)  # (grid, n)
    return Film(np.array(grid), scores.numpy(), (scores / lengths).numpy())


def film_grid(n_keys: int) -> list[int]:
    """Whole numbers from 1 to LARGEST_D_K, even on a log axis: 24 an octave for few keys, 2 for 4,096."""
    octaves = LARGEST_D_K.bit_length() - 1
    steps = int(np.clip(60_000 // (n_keys * octaves), 2, 24))
    return sorted({round(2 ** (i / steps)) for i in range(octaves * steps + 1)})


def _row(logits: Tensor, weights: Tensor) -> WidthRow:
    wide = weights.double()
    measures = (float(measure) for measure in (wide.max(), entropy(wide), effective_keys(wide), jacobian_norm(wide)))
    return WidthRow(logits.numpy(), weights.numpy(), *measures)


def _lengths(x: Tensor, grid: list[int]) -> Tensor:
    """Length of the rows of x (n, D) cut off at each d of the grid: (grid, n)."""
    added = [torch.linalg.vector_norm(x[:, a:b], dim=-1) for a, b in zip([0, *grid], grid, strict=False)]
    return torch.stack(added).double().square().cumsum(0).sqrt().float()
