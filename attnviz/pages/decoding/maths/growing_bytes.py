"""The cache of one shape as MHA, GQA, MQA and MLA, growing token by token; Llama-3.1-8B beside it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from attnviz.base.message import Problem
from attnviz.models.architecture import Architecture, as_latent, has_heads, shared_otherwise
from attnviz.models.capture import RecordedLayer
from attnviz.pages.decoding.maths.decoders import qkv

BESIDE, BESIDE_NAME = "llama-3.1-8b", "Llama-3.1-8B"
POINTS = 128
SchemeName = Literal["MHA", "GQA", "MQA", "MLA"]
#: widths of MLA's latent and rotary key as shares of a head's width, as DeepSeek chose them
LATENT_HEADS, ROTARY_HEADS = 4, 0.5


@dataclass(frozen=True)
class Config:
    tokens: int = 8192  #: at the end of the film
    dtype: str = "bfloat16"


@dataclass(frozen=True, eq=False)
class GrowingScheme:
    """One way of sharing: bytes (points,) of all layers' cache at each number of tokens."""

    name: SchemeName
    kv_heads: int  #: 0 for MLA, which caches latents
    own: bool  #: how the model itself does it
    bytes: tuple[int, ...]
    per_token: int


@dataclass(frozen=True, eq=False)
class GrowingModel:
    """One model, and its cache under each scheme that its heads allow."""

    name: str
    schemes: tuple[GrowingScheme, ...]


@dataclass(frozen=True, eq=False)
class Result:
    config: Config
    tokens: tuple[int, ...]  #: (points,), from 0 to the chosen number
    models: tuple[GrowingModel, ...]


def run(small: Architecture, config: Config) -> Result:
    """Both models' caches at POINTS + 1 evenly spaced numbers of tokens; exact bytes."""
    grid = tuple(int(n) for n in np.unique(np.linspace(0, config.tokens, POINTS + 1).round()))
    both = ((small, small.name), (Architecture.preset(BESIDE), BESIDE_NAME))
    return Result(config, grid, tuple(_model(arch, name, grid, config.dtype) for arch, name in both))


def _model(arch: Architecture, name: str, grid: tuple[int, ...], dtype: str) -> GrowingModel:
    layer = next((layer for layer in arch.layers if has_heads(layer)), None)
    if layer is None:
        raise Problem("{model} has no layer with keys and values of its own", model=arch.name)
    heads, own = layer.n_heads, layer.n_kv_heads
    shared = own if 1 < own < heads else next((g for g in range(heads // 2, 1, -1) if heads % g == 0), 0)
    counts: dict[SchemeName, int] = {"MHA": heads, "GQA": shared, "MQA": 1}
    ways = {scheme: (g, shared_otherwise(arch, g)) for scheme, g in counts.items() if g}
    rotary = max(2, int(layer.d_head * ROTARY_HEADS))
    ways["MLA"] = 0, as_latent(shared_otherwise(arch, heads), LATENT_HEADS * layer.d_head, rotary)
    schemes = (
        GrowingScheme(
            scheme,
            g,
            g == own,
            tuple(way.kv_cache_bytes(n, dtype=dtype) for n in grid),
            way.kv_cache_bytes(1, dtype=dtype),
        )
        for scheme, (g, way) in ways.items()
    )
    return GrowingModel(name, tuple(schemes))


@dataclass(frozen=True, eq=False)
class LayerTensors:
    """One layer over the T tokens processed so far; a weight of a key that a query could not see is 0."""

    scale: float  #: what q.kT is multiplied by
    q: np.ndarray  #: (H, T, D)
    k: np.ndarray  #: (G, T, D)
    v: np.ndarray  #: (G, T, Dv)
    weights: np.ndarray  #: (H, T, T)

    @property
    def nbytes(self) -> int:
        return self.q.nbytes + self.k.nbytes + self.v.nbytes + self.weights.nbytes

    def kv_head_of(self, head: int) -> int:
        return head * len(self.k) // len(self.q)

    def output(self, head: int) -> np.ndarray:
        """(T, Dv): what one query head gives each token."""
        return self.weights[head] @ self.v[self.kv_head_of(head)]


class GrownTensors:
    """Takes the layers of each pass; the new rows are those of its queries."""

    def __init__(self) -> None:
        self._scales: list[float] = []
        self._rows: list[list[tuple[np.ndarray, ...]]] = []  # of each pass, of each layer: q, k, v, weights

    def take(self, layers: tuple[RecordedLayer, ...]) -> None:
        self._scales = [layer.scale for layer in layers]
        self._rows.append([_rows_of(layer) for layer in layers])

    def layers(self) -> tuple[LayerTensors, ...]:
        by_layer = zip(*self._rows, strict=True)
        return tuple(_joined(scale, rows) for scale, rows in zip(self._scales, by_layer, strict=True))


@torch.no_grad()
def _rows_of(layer: RecordedLayer) -> tuple[np.ndarray, ...]:
    q, k, v = qkv(layer)
    new = layer.shape[2]
    parts = q[0], k[0, :, -new:], v[0, :, -new:], layer.weights()[0]
    return tuple(part.float().cpu().numpy() for part in parts)


def _joined(scale: float, rows: tuple[tuple[np.ndarray, ...], ...]) -> LayerTensors:
    q, k, v = (np.concatenate([part[n] for part in rows], 1) for n in range(3))
    weights = np.zeros((len(q), q.shape[1], q.shape[1]), np.float32)
    seen = 0
    for *_qkv, part in rows:
        seen, start = seen + part.shape[1], seen
        weights[:, start:seen, seen - part.shape[2] : seen] = part  # a window's keys are the newest ones
    return LayerTensors(scale, q, k, v, weights)
