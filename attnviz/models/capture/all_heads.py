"""All heads at once, layer by layer: small pictures of every head and its measures, never L x H x Q x K."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d, adaptive_max_pool2d

from attnviz.core.measures import HeadMeasures, measure
from attnviz.core.message import Problem
from attnviz.models.capture.head_selection import of_heads
from attnviz.models.capture.recorded_layer import CHUNK, MaskChoice, RecordedLayer, ScaleChoice
from attnviz.models.capture.trace import Trace

Pool = Literal["max", "mean"]


@dataclass(frozen=True, eq=False)
class LayerSurvey:
    """What there is to say about every head of one layer."""

    layer: RecordedLayer
    thumbnails: Tensor  #: (B, H, n', m'), weights pooled to n x n, or unpooled where fewer positions than n
    measures: HeadMeasures  #: each (B, H)


def survey(
    trace: Trace,
    n: int = 32,
    pool: Pool = "max",
    tokens: Tensor | None = None,
    mask: MaskChoice = "model",
    scale: ScaleChoice = "model",
) -> Iterator[LayerSurvey]:
    """One entry for each layer, made as it is asked for. `tokens` (B, K) are ids, for induction and duplicates.

    Rows of padding tokens are left out of measures where the trace knows them. Token scores are for
    self-attention only: in cross-attention queries and keys are two different sentences.
    """
    for layer in trace.layers:
        yield _survey(layer, n, pool, _ids_for(layer, tokens), mask, scale)


def measures(layer: RecordedLayer, tokens: Tensor | None = None) -> HeadMeasures:
    """The measures alone of every head of one layer, each (B, H); `tokens` as in `survey`."""
    return _measured(layer, _ids_for(layer, tokens), "model", "model", lambda _weights: None)


def thumbnails(
    trace: Trace, n: int = 32, pool: Pool = "max", mask: MaskChoice = "model", scale: ScaleChoice = "model"
) -> list[Tensor]:
    """Every head pooled to at most n x n: for each layer (B, H, n', m')."""
    small = []
    for layer in trace.layers:
        parts = [pooled(layer.weights(heads, _of(mask, heads), scale), n, pool) for heads in few_heads(layer)]
        small.append(torch.cat(parts, 1))
    return small


def pooled(weights: Tensor, n: int, pool: Pool) -> Tensor:
    """Weights (B, H, Q, K) brought to at most (B, H, n, n): the largest, or the mean, of each patch."""
    if pool not in ("max", "mean"):
        raise Problem('pool={pool} must be "max" or "mean"', pool=repr(pool))
    if n < 1:
        raise Problem("n={n} must be at least 1", n=n)
    size = (min(n, weights.shape[-2]), min(n, weights.shape[-1]))
    if size == tuple(weights.shape[-2:]):
        return weights
    shrink = adaptive_max_pool2d if pool == "max" else adaptive_avg_pool2d
    small: Tensor = shrink(weights, size)
    return small


def _survey(
    layer: RecordedLayer, n: int, pool: Pool, tokens: Tensor | None, mask: MaskChoice, scale: ScaleChoice
) -> LayerSurvey:
    small: list[Tensor] = []
    measures = _measured(layer, tokens, mask, scale, lambda weights: small.append(pooled(weights, n, pool)))
    return LayerSurvey(layer, torch.cat(small, 1), measures)


def _measured(
    layer: RecordedLayer, tokens: Tensor | None, mask: MaskChoice, scale: ScaleChoice, also: Callable[[Tensor], None]
) -> HeadMeasures:
    """The measures of every head; `also` is handed the weights on the way."""
    seen = layer.mask_for(mask)
    rows = _real_rows(layer)
    ids = None if tokens is None else tokens[:, None, :]  # (B, 1, K)
    measures = []
    for heads in few_heads(layer):
        weights = layer.weights(heads, _of(mask, heads), scale)
        also(weights)
        measures.append(measure(weights, of_heads(seen, heads), ids, rows))
    fields = HeadMeasures.__dataclass_fields__
    joined = {name: _join([getattr(part, name) for part in measures]) for name in fields}
    return HeadMeasures(**joined)  # type: ignore[arg-type]


def _ids_for(layer: RecordedLayer, tokens: Tensor | None) -> Tensor | None:
    return tokens if layer.kind == "self" and tokens is not None and tokens.shape[-1] == layer.shape[3] else None


def _of(mask: MaskChoice, heads: list[int]) -> MaskChoice:
    return of_heads(mask, heads) if isinstance(mask, Tensor) else mask


def few_heads(layer: RecordedLayer) -> list[list[int]]:
    """All heads at once when that is small, else a few: what stays in the processor's cache is faster by half."""
    b, heads, q_len, k_len = layer.shape
    step = max(1, CHUNK // 16 // (b * q_len * k_len))
    return [list(range(start, min(start + step, heads))) for start in range(0, heads, step)]


def _real_rows(layer: RecordedLayer) -> Tensor | None:
    """(B, 1, Q): queries that are not padding, known where queries and keys are the same tokens."""
    if layer.kind != "self" or layer.padding is None or layer.padding.shape[1] != 1:
        return None
    return layer.padding[:, :, 0, -layer.shape[2] :]


def _join(parts: list[Tensor | None]) -> Tensor | None:
    return torch.cat([part for part in parts if part is not None], 1) if parts[0] is not None else None
