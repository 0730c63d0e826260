"""Run a model over many sentences and score every head against patterns, one batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.core import measures
from attnviz.core.message import Problem
from attnviz.experiments.heads.batches import Batch, inputs_of, module_of
from attnviz.experiments.heads.head_patterns import HeadPattern, checked, mass
from attnviz.experiments.heads.head_scores import HeadScores
from attnviz.models.capture import RecordedLayer, Trace, capture, few_heads, of_heads
from attnviz.models.catalogue import LoadedModel

ScoredRows = Literal["with targets", "all"]


def scan(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    patterns: Sequence[HeadPattern] = ("previous_token", "induction", "duplicate_token"),
    tokenizer: Any = None,
    rows: ScoredRows = "with targets",
) -> Iterator[HeadScores]:
    """The scores so far after every batch; the last one is complete, and stopping keeps what is done.

    `batches` are sentences, files of one sentence a line, token ids (T,) or (B, T), or a model's inputs as a
    dictionary; or one of these alone. A sentence's score is the mean over its rows in which the pattern has a key to
    look at; with `rows` "all", over all rows, where a row without one counts as 0.
    """
    wanted = checked(patterns)
    if rows not in ("with targets", "all"):
        raise Problem('rows={rows} must be "with targets" or "all"', rows=repr(rows))
    found: dict[str, list[np.ndarray]] = {name: [] for name in wanted}
    places: tuple[tuple[int, int], ...] | None = None
    names: tuple[str, ...] = ()
    for inputs in inputs_of(model, batches, tokenizer):
        trace = capture(module_of(model), logits=None, **inputs)
        layers = [(number, layer) for number, layer in enumerate(trace.layers) if layer.kind == "self"]
        here = tuple((number, head) for number, layer in layers for head in range(layer.n_heads))
        if places is not None and here != places:
            raise Problem("the model ran other layers for this batch than for the first one")
        places, names = here, tuple(layer.name for _, layer in layers for _ in range(layer.n_heads))
        ids = _ids(trace, layers)
        for name, pattern in wanted.items():
            scores = [_scored(layer, pattern, ids, rows) for _, layer in layers]
            found[name] += list(torch.cat(scores, 1).double().cpu().numpy())
        yield HeadScores(here, names, {name: np.stack(rows_) for name, rows_ in found.items()}, len(found[name]))
    if places is None:
        raise Problem("there is no sentence to look at")


def _scored(layer: RecordedLayer, pattern: HeadPattern, ids: Tensor, rows: ScoredRows) -> Tensor:
    """One number for each sentence and head, (B, H)."""
    parts = []
    for heads in few_heads(layer):
        keys = None if layer.padding is None else of_heads(layer.padding, heads)[..., 0, :]  # (B, 1, K)
        on = mass(pattern, layer.weights(heads), ids, keys)  # (B, h, Q)
        real = layer.real_queries  # (B, 1, Q) or None
        parts.append(measures.over_rows(on.nan_to_num(0.0) if rows == "all" else on, real))
    return torch.cat(parts, 1)


def _ids(trace: Trace, layers: list[tuple[int, RecordedLayer]]) -> Tensor:
    """Token ids (B, K), or running numbers where the model was given none."""
    if not layers:
        raise Problem("the model has no self-attention to look at")
    b, _, _, k_len = layers[0][1].shape
    for value in trace.inputs.values():
        if tuple(value.shape) == (b, k_len) and value.dtype == torch.long:
            return value
    return torch.arange(k_len).expand(b, -1)
