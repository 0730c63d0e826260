"""Run a model over many sentences and score every head against patterns, one batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.core import measures
from attnviz.core.message import Problem
from attnviz.experiments.heads.head_patterns import HeadPattern, checked, mass
from attnviz.experiments.heads.head_scores import HeadScores
from attnviz.models.capture import RecordedLayer, Trace, capture, of_heads
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import encode

ScoredRows = Literal["with targets", "all"]
Batch = str | Path | Tensor | Sequence[str] | Sequence[int] | dict[str, Tensor]

MOST = 1 << 22  #: weights in memory at once


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
    for inputs in _inputs(model, batches, tokenizer):
        trace = capture(_module(model), logits=None, **inputs)
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
    for heads in _few_heads(layer):
        keys = None if layer.padding is None else of_heads(layer.padding, heads)[..., 0, :]  # (B, 1, K)
        on = mass(pattern, layer.weights(heads), ids, keys)  # (B, h, Q)
        real = layer.real_queries  # (B, 1, Q) or None
        parts.append(measures.over_rows(on.nan_to_num(0.0) if rows == "all" else on, real))
    return torch.cat(parts, 1)


def _few_heads(layer: RecordedLayer) -> list[list[int]]:
    """The heads in groups whose weights are at most MOST numbers, so that those of a long sentence fit memory."""
    b, heads, q_len, k_len = layer.shape
    step = max(1, MOST // (b * q_len * k_len))
    return [list(range(start, min(start + step, heads))) for start in range(0, heads, step)]


def _ids(trace: Trace, layers: list[tuple[int, RecordedLayer]]) -> Tensor:
    """Token ids (B, K), or running numbers where the model was given none."""
    if not layers:
        raise Problem("the model has no self-attention to look at")
    b, _, _, k_len = layers[0][1].shape
    for value in trace.inputs.values():
        if tuple(value.shape) == (b, k_len) and value.dtype == torch.long:
            return value
    return torch.arange(k_len).expand(b, -1)


def _module(model: nn.Module | LoadedModel) -> nn.Module:
    return model.model if isinstance(model, LoadedModel) else model


def _inputs(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any
) -> Iterator[dict[str, Any]]:
    """The arguments of one pass after another."""
    for batch in _each(batches):
        if isinstance(batch, dict):
            yield dict(batch)
        elif isinstance(batch, str):
            yield _read(model, batch, tokenizer)
        elif isinstance(batch, Path):
            yield from (_read(model, line, tokenizer) for line in batch.read_text("utf-8").splitlines() if line.strip())
        elif isinstance(batch, Tensor):
            yield {"input_ids": batch if batch.dim() > 1 else batch.unsqueeze(0)}
        elif len(batch) and all(isinstance(each, int) for each in batch):
            yield {"input_ids": torch.tensor([list(batch)])}
        else:
            several: list[Any] = list(batch)
            yield from _inputs(model, several, tokenizer)


def _each(batches: Iterable[Batch] | Batch) -> Iterable[Batch]:
    if isinstance(batches, str | Path | dict):
        return (batches,)
    if isinstance(batches, Tensor):
        return (batches,)
    return batches  # type: ignore[return-value]


def _read(model: nn.Module | LoadedModel, text: str, tokenizer: Any) -> dict[str, Any]:
    if isinstance(model, LoadedModel) and tokenizer is None:
        return dict(encode(model, text).inputs)
    if tokenizer is None:
        raise Problem("a sentence needs a tokenizer: give tokenizer=, or token ids in its place")
    return dict(tokenizer(text, return_tensors="pt"))
