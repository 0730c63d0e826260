"""How one weight came about: the query, the key, and every number between them and the output."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.attention import scale_factor
from attnviz.models.capture import MaskChoice, RecordedLayer, ScaleChoice
from attnviz.runs.model_run import Stack


@dataclass(frozen=True)
class CellArithmetic:
    """One cell of one head, with every number that goes into it."""

    query: int
    key: int
    score: float  #: q.k
    factor: float  #: the score is multiplied by this
    scaled: float  #: after scale, bias and soft-cap
    hidden: bool
    others: float  #: sum of exp(scaled - largest) over all allowed keys, sinks included
    largest: float  #: largest allowed score of the row, subtracted before exp
    weight: float


@dataclass(frozen=True)
class StagesResult:
    """One query of one head, step by step. Shapes: (D,), (K,), (K, Dv)."""

    query: int
    q: np.ndarray  #: (D,)
    k: np.ndarray  #: (K, D)
    v: np.ndarray  #: (K, Dv)
    scores: np.ndarray  #: (K,)
    scaled: np.ndarray
    masked: np.ndarray  #: -inf where hidden
    weights: np.ndarray
    weighted: np.ndarray  #: (K, Dv), weight times value
    added: np.ndarray | None  #: (K,), length of weight times value after W_O; None where that projection is not known
    output: np.ndarray  #: (Dv,)
    factor: float
    kv_head: int
    shapes: dict[str, tuple[int, ...]]  #: the whole head's tensors, by stage
    extras: tuple[str, ...]  #: which of "bias", "softcap" and "sinks" this layer has

    def cell(self, key: int) -> CellArithmetic:
        """The arithmetic behind the weight on `key`."""
        allowed = np.isfinite(self.masked)
        largest = float(self.masked[allowed].max()) if allowed.any() else 0.0
        weight = float(self.weights[key])
        top = math.exp(float(self.scaled[key]) - largest)
        others = top / weight if allowed[key] and weight > 0 else float(np.exp(self.masked[allowed] - largest).sum())
        return CellArithmetic(
            self.query,
            key,
            float(self.scores[key]),
            self.factor,
            float(self.scaled[key]),
            not bool(allowed[key]),
            others,
            largest,
            weight,
        )


def stages(
    stack: Stack, layer: int, head: int, query: int, mask: MaskChoice = "model", scale: ScaleChoice = "model"
) -> StagesResult:
    """Every stage of query `query` in one head, under the model's or another mask and scale."""
    chosen = stack.layers[layer]
    steps = chosen.stages(head, mask, scale)
    assert chosen.q is not None
    assert chosen.k is not None
    assert chosen.v is not None
    kv_head = head // (chosen.n_heads // chosen.n_kv_heads)
    q, k, v = (_array(t) for t in (chosen.q[0, head, query], chosen.k[0, kv_head], chosen.v[0, kv_head]))
    weights = _array(steps.weights[0, 0, query])
    factor = chosen.scale_of(head) if scale == "model" else _factor(scale, q.shape[-1])
    all_of = {"q": chosen.q, "k": chosen.k, "v": chosen.v}
    shapes = {name: tuple(t.shape) for name, t in all_of.items() if t is not None}
    shapes |= {name: tuple(getattr(steps, name).shape) for name in ("scores", "scaled", "masked", "weights", "output")}
    extras = tuple(name for name in ("bias", "softcap", "sinks") if getattr(chosen, name) is not None)
    return StagesResult(
        query,
        q,
        k,
        v,
        _array(steps.scores[0, 0, query]),
        _array(steps.scaled[0, 0, query]),
        _array(steps.masked[0, 0, query]),
        weights,
        weights[:, None] * v,
        _added(chosen, head, weights),
        _array(steps.output[0, 0, query]),
        factor,
        kv_head,
        shapes,
        extras,
    )


def _added(layer: RecordedLayer, head: int, weights: np.ndarray) -> np.ndarray | None:
    try:
        lengths = layer.value_norms()[0, head]
    except Problem:
        return None
    return weights * _array(lengths)


def _factor(scale: ScaleChoice, width: int) -> float:
    assert scale != "model"
    return scale_factor(scale, width)


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().float().cpu().numpy()
