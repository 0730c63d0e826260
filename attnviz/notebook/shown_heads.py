"""Attention from anywhere, brought into the heads that a picture is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from torch import Tensor

from attnviz.base.message import Problem, Several
from attnviz.base.raw_scores import RawHead
from attnviz.models.capture import RecordedLayer, Trace
from attnviz.runs.raw_heads import raw_heads_of

PATTERN = "hook_pattern"  #: how TransformerLens names attention weights in its cache


@dataclass(frozen=True)
class ShownHeads:
    """Layers of one shape: their heads as they are drawn, and each head's weights."""

    heads: list[RawHead]
    weights: list[np.ndarray]  #: one (H, Q, K) for each layer
    kv_counts: list[int]
    layer_ids: list[int]  #: what each layer is called
    ids: Sequence[int | str] | None = None  #: labels or ids of the tokens, where they are known

    @property
    def counts(self) -> list[int]:
        return [len(layer) for layer in self.weights]


def shown_heads(given: Any, layer: int | None, row: int) -> ShownHeads:
    """The heads of a trace, of a list of arrays, of a model's output or of a cache; of one sentence of a batch."""
    if isinstance(given, Trace):
        return _of_trace(given, layer, row)
    return _of_arrays([_matrix(each, row) for each in _arrays(given)])


def _of_trace(trace: Trace, layer: int | None, row: int) -> ShownHeads:
    first = trace[layer or 0]
    alike = [
        (number, each)
        for number, each in enumerate(trace.layers)
        if (each.stack, each.kind, each.tower, each.shape[2:])
        == (first.stack, first.kind, first.tower, first.shape[2:])
    ]
    if not -first.shape[0] <= row < first.shape[0]:
        raise Problem("row={row} is not in this batch of {count}", row=row, count=first.shape[0])
    one = [_row(each, row % first.shape[0]) for _, each in alike]
    weights = [each.weights()[0].detach().float().cpu().numpy() for each in one]
    kv_counts = [each.n_kv_heads for each in one]
    ids = trace.inputs.get("input_ids")
    known: Sequence[int | str] | None = trace.tokens or None
    if known is None and ids is not None and ids.dim() == 2 and ids.shape[1] == first.shape[2]:
        known = ids[row].tolist()
    return ShownHeads(raw_heads_of(one), weights, kv_counts, [number for number, _ in alike], known)


def _row(layer: RecordedLayer, row: int) -> RecordedLayer:
    """The layer with one sentence of its batch."""
    batch = layer.shape[0]
    held = {entry.name: getattr(layer, entry.name) for entry in fields(layer)}
    cut: dict[str, Any] = {
        name: value[row : row + 1]
        for name, value in held.items()
        if isinstance(value, Tensor) and value.dim() >= 3 and value.shape[0] == batch
    }
    return replace(layer, **cut)


def _of_arrays(arrays: list[np.ndarray]) -> ShownHeads:
    shapes = {each.shape[1:] for each in arrays}
    if len(shapes) != 1:
        raise Problem("the layers have weights of different shapes: {shapes}", shapes=Several(sorted(shapes)))
    q_len, k_len = arrays[0].shape[1:]
    mask = np.ones((q_len, k_len), bool)
    ahead = ~np.tri(q_len, k_len, k_len - q_len, dtype=bool)
    if ahead.any() and not any(np.nan_to_num(each[:, ahead]).any() for each in arrays):
        mask &= ~ahead  # nothing looks ahead anywhere: a causal model
    heads = []
    for head in (head for each in arrays for head in each):
        told = np.isfinite(head)
        heads.append(RawHead(np.where(told, head, 0).astype(np.float32), mask & told, 1.0, 0, exact=False))
    return ShownHeads(heads, arrays, [len(each) for each in arrays], list(range(len(arrays))))


def _arrays(given: Any) -> list[Any]:
    """One entry for each layer."""
    if isinstance(given, Mapping) or hasattr(
        given, "cache_dict"
    ):  # TransformerLens' cache is a mapping in all but name
        found = [value for name, value in dict(given.items()).items() if str(name).endswith(PATTERN)]
        if found:
            return found
    attentions = getattr(given, "attentions", None)
    if attentions is not None:
        given = attentions
    if isinstance(given, list | tuple) and given:
        return list(given)
    if hasattr(given, "shape") and 2 <= len(given.shape) <= 4:
        return list(given) if len(given.shape) == 4 and given.shape[0] != 1 else [given]
    raise Problem(
        "{kind} holds no attention weights: give a trace, a list of arrays (heads, queries, keys), one for each layer, "
        "or a model's output with attentions",
        kind=type(given).__name__,
    )


def _matrix(layer: Any, row: int) -> np.ndarray:
    """The weights of one layer, (H, Q, K)."""
    made = layer.detach().float().cpu().numpy() if isinstance(layer, Tensor) else np.asarray(layer, np.float32)
    if made.ndim == 4:
        if not -len(made) <= row < len(made):
            raise Problem("row={row} is not in this batch of {count}", row=row, count=len(made))
        made = made[row]
    if made.ndim == 2:
        made = made[None]
    if made.ndim != 3 or 0 in made.shape:
        raise Problem("a layer has weights of shape {shape}; it must be (heads, queries, keys)", shape=made.shape)
    return made


def labels(tokens: Sequence[Any] | None, ids: Sequence[int | str] | None, count: int, side: str) -> list[str]:
    """The names of `count` positions: the tokens given, else their labels or ids, else their numbers."""
    if tokens is None:
        return [str(each) for each in (range(count) if ids is None or len(ids) != count else ids)]
    if isinstance(tokens, str):
        raise Problem(
            "tokens={text} is one string; give a list with a string for each position", text=repr(tokens)[:60]
        )
    if len(tokens) != count:
        raise Problem("there are {given} tokens for {count} {side}", given=len(tokens), count=count, side=side)
    return [str(token) for token in tokens]
