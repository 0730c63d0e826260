"""The measures of every head of a layer, a few heads at a time, so that L x H x Q x K weights never exist at once."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.core.measures import HeadMeasures, measure
from attnviz.models.capture.head_selection import of_heads
from attnviz.models.capture.recorded_layer import CHUNK, RecordedLayer


def measures(layer: RecordedLayer, tokens: Tensor | None = None) -> HeadMeasures:
    """Each measure of every head of one layer, (B, H). `tokens` (B, K) are ids, for induction and duplicates.

    Rows of padding tokens are left out if the layer recorded its padding. Token scores are computed for
    self-attention only, because in cross-attention queries and keys are two different sentences.
    """
    repeats = layer.kind == "self" and tokens is not None and tokens.shape[-1] == layer.shape[3]
    ids = tokens[:, None, :] if repeats and tokens is not None else None  # (B, 1, K)
    rows = _real_rows(layer)
    parts = [measure(layer.weights(heads), of_heads(layer.mask, heads), ids, rows) for heads in few_heads(layer)]
    joined = {name: _join([getattr(part, name) for part in parts]) for name in HeadMeasures.__dataclass_fields__}
    return HeadMeasures(**joined)  # type: ignore[arg-type]


def few_heads(layer: RecordedLayer) -> list[list[int]]:
    """The heads in groups: all at once if their weights are small, else few at a time.

    Groups are sized so that their weights fit the processor's cache, where computing them is much faster.
    """
    b, heads, q_len, k_len = layer.shape
    step = max(1, CHUNK // 16 // (b * q_len * k_len))
    return [list(range(start, min(start + step, heads))) for start in range(0, heads, step)]


def _real_rows(layer: RecordedLayer) -> Tensor | None:
    """True for queries that are not padding, (B, 1, Q); None where queries and keys are different tokens."""
    if layer.kind != "self" or layer.padding is None or layer.padding.shape[1] != 1:
        return None
    return layer.padding[:, :, 0, -layer.shape[2] :]


def _join(parts: list[Tensor | None]) -> Tensor | None:
    return torch.cat([part for part in parts if part is not None], 1) if parts[0] is not None else None
