"""Queries, keys, values and weights of all layers, collected as a cache grows pass by pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.models.capture import RecordedLayer


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
