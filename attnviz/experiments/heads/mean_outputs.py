"""What each head hands on on average over a data set: what takes its place in a mean ablation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.core.message import Problem
from attnviz.experiments.heads.batches import Batch, inputs_of, module_of
from attnviz.models.capture import RecordedLayer, capture
from attnviz.models.catalogue import LoadedModel


def mean_outputs(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any = None
) -> dict[str, Tensor]:
    """Layer name -> (H, 1, Dv): the mean over all real positions of all sentences, for `Edit(output=...)`.

    `batches` as in `find_heads`. A layer that runs several times in a pass has one mean over all of its runs.
    """
    sums: dict[str, Tensor] = {}
    counts: dict[str, int] = {}
    for inputs in inputs_of(model, batches, tokenizer):
        for layer in capture(module_of(model), logits=None, **inputs):
            total, count = _sum(layer)
            sums[layer.name] = sums.get(layer.name, 0) + total
            counts[layer.name] = counts.get(layer.name, 0) + count
    if not sums:
        raise Problem("there is no sentence to look at")
    return {name: (total / counts[name])[:, None] for name, total in sums.items()}


def _sum(layer: RecordedLayer) -> tuple[Tensor, int]:
    """The sum over real positions, (H, Dv), and their number."""
    found = layer.head_outputs()  # (B, H, Q, Dv)
    real = layer.real_queries  # (B or 1, 1, Q) or None
    if real is None:
        return found.sum((0, 2)), found.shape[0] * found.shape[2]
    real = real.expand(found.shape[0], 1, -1)
    return torch.where(real[..., None], found, 0.0).sum((0, 2)), int(real.sum())
