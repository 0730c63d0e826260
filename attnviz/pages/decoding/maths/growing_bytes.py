"""The cache of one shape as MHA, GQA, MQA and MLA, growing token by token; Llama-3.1-8B beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.models.architecture import Architecture, as_latent, has_heads, shared_otherwise
from attnviz.models.capture import RecordedLayer

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

    def scheme(self, name: SchemeName) -> GrowingScheme:
        return next(scheme for scheme in self.schemes if scheme.name == name)


@dataclass(frozen=True, eq=False)
class Result:
    config: Config
    tokens: tuple[int, ...]  #: (points,), from 0 to the chosen number
    models: tuple[GrowingModel, ...]


def run(small: Architecture, config: Config) -> Result:
    """Both models' caches at POINTS + 1 evenly spaced numbers of tokens; exact bytes."""
    grid = tuple(int(n) for n in np.unique(np.linspace(0, config.tokens, POINTS + 1).round()))
    beside = Architecture.preset(BESIDE)
    models = (
        _model(small, small.name, grid, config.dtype),
        _model(beside, BESIDE_NAME, grid, config.dtype),
    )
    return Result(config, grid, models)


def _model(arch: Architecture, name: str, grid: tuple[int, ...], dtype: str) -> GrowingModel:
    layer = next((layer for layer in arch.layers if has_heads(layer)), None)
    if layer is None:
        raise Problem("{model} has no layer with keys and values of its own", model=arch.name)
    heads, own = layer.n_heads, layer.n_kv_heads
    shared = own if 1 < own < heads else next((g for g in range(heads // 2, 1, -1) if heads % g == 0), 0)
    made: list[tuple[SchemeName, int, Architecture]] = [("MHA", heads, shared_otherwise(arch, heads))]
    if shared:
        made.append(("GQA", shared, shared_otherwise(arch, shared)))
    made.append(("MQA", 1, shared_otherwise(arch, 1)))
    rotary = max(2, int(layer.d_head * ROTARY_HEADS))
    made.append(("MLA", 0, as_latent(shared_otherwise(arch, heads), LATENT_HEADS * layer.d_head, rotary)))
    return GrowingModel(
        name,
        tuple(
            GrowingScheme(
                scheme,
                groups,
                groups == own,
                tuple(way.kv_cache_bytes(n, dtype=dtype) for n in grid),
                way.kv_cache_bytes(1, dtype=dtype),
            )
            for scheme, groups, way in made
        ),
    )


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
        found: np.ndarray = self.weights[head] @ self.v[self.kv_head_of(head)]
        return found


class GrownTensors:
    """Takes the layers of each pass; the new rows are those of its queries."""

    def __init__(self) -> None:
        self._passes: list[tuple[RecordedLayer, ...]] = []
        self._rows: list[list[tuple[np.ndarray, ...]]] = []  # of each pass, of each layer: q, k, v, weights
        self._tokens = 0

    def take(self, layers: tuple[RecordedLayer, ...]) -> None:
        self._passes = [layers]
        self._rows.append([_rows_of(layer) for layer in layers])
        self._tokens += layers[0].shape[2]

    def bytes_by_layer(self) -> tuple[tuple[int, int], ...]:
        """Bytes of the keys and of the values that each layer holds after the newest pass."""
        return tuple((_held(layer.k), _held(layer.v)) for layer in self._passes[-1])

    def layers(self) -> tuple[LayerTensors, ...]:
        return tuple(
            _joined(layer.scale, [rows[n] for rows in self._rows], self._tokens)
            for n, layer in enumerate(self._passes[-1])
        )


def _held(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.nbytes


def _rows_of(layer: RecordedLayer) -> tuple[np.ndarray, ...]:
    assert layer.q is not None
    assert layer.k is not None
    assert layer.v is not None
    new = layer.shape[2]
    with torch.no_grad():
        parts = layer.q[0], layer.k[0, :, -new:], layer.v[0, :, -new:], layer.weights()[0]
    return tuple(part.float().cpu().numpy() for part in parts)


def _joined(scale: float, rows: list[tuple[np.ndarray, ...]], tokens: int) -> LayerTensors:
    q, k, v = (np.concatenate([part[n] for part in rows], 1) for n in range(3))
    weights = np.zeros((len(q), tokens, tokens), np.float32)
    seen = 0
    for *_qkv, part in rows:
        seen, start = seen + part.shape[1], seen
        weights[:, start:seen, seen - part.shape[2] : seen] = part  # a window's keys are the newest ones
    return LayerTensors(scale, q, k, v, weights)
