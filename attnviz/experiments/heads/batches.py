"""Sentences, files, token ids or a model's inputs, brought into the arguments of one pass after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.core.message import Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import encode

Batch = str | Path | Tensor | Sequence[str] | Sequence[int] | dict[str, Tensor]


def module_of(model: nn.Module | LoadedModel) -> nn.Module:
    """The torch model of a loaded one."""
    return model.model if isinstance(model, LoadedModel) else model


def inputs_of(
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
            yield from inputs_of(model, several, tokenizer)


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
