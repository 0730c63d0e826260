"""What each head hands on on average over a data set: what takes its place in a mean ablation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.core.message import Problem
from attnviz.experiments.heads.batches import Batch, inputs_of, module_of
from attnviz.models.capture import RecordedLayer, capture
from attnviz.models.catalogue import LoadedModel

#: of one batch: layer name, the sum over real positions (H, Dv), and how many there were; once for each run of a layer
HeadSums = list[tuple[str, Tensor, int]]


def mean_outputs(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any = None
) -> dict[str, Tensor]:
    """Layer name -> (H, 1, Dv): the mean over all real positions of all sentences, for `Edit(output=...)`.

    `batches` as in `find_heads`. A layer that runs several times in a pass has one mean over all of its runs.
    """
    return mean_of(sums_of(model, batches, tokenizer))


def sums_of(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any = None
) -> Iterator[HeadSums]:
    """For each batch the sums that its mean is made of."""
    for inputs in inputs_of(model, batches, tokenizer):
        yield [(layer.name, *_sum(layer)) for layer in capture(module_of(model), logits=None, **inputs)]


def mean_of(batches: Iterable[HeadSums]) -> dict[str, Tensor]:
    """Layer name -> (H, 1, Dv) from the sums of all batches, added in their order."""
    sums: dict[str, Tensor] = {}
    counts: dict[str, int] = {}
    for batch in batches:
        for name, total, count in batch:
            sums[name] = sums.get(name, 0) + total
            counts[name] = counts.get(name, 0) + count
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
