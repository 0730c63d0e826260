"""Turn sentences, files, token ids or model inputs into the arguments of each pass."""

import inspect
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.catalogue import LoadedModel, max_positions, require_positions
from attnviz.models.file_faults import read_lines
from attnviz.models.tokens import encode_whole

Batch = str | Path | Tensor | np.ndarray | Sequence[str] | Sequence[int] | dict[str, Any]


def torch_module(model: nn.Module | LoadedModel) -> nn.Module:
    """The torch model of a loaded one."""
    return model.model if isinstance(model, LoadedModel) else model


def batch_inputs(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any, truncate: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the keyword arguments of each pass; a Problem for anything that is no sentence, or too long a one."""
    if isinstance(batches, dict):
        yield _read_record(model, batches, tokenizer, truncate)
    elif isinstance(batches, str):
        yield _read(model, batches, tokenizer, truncate)
    elif isinstance(batches, Path):
        yield from (_read(model, line, tokenizer, truncate) for line in read_lines(batches))
    elif isinstance(batches, Tensor | np.ndarray):
        ids = torch.as_tensor(batches)
        yield {_name_of_ids(model): ids if ids.dim() > 1 else ids.unsqueeze(0)}
    elif isinstance(batches, list | tuple) and batches and all(isinstance(token_id, int) for token_id in batches):
        yield {_name_of_ids(model): torch.tensor([list(batches)])}
    elif isinstance(batches, Iterable) and not isinstance(batches, bytes):
        batch: Any
        for batch in batches:
            is_single = isinstance(batch, str | bytes | dict | Tensor | np.ndarray) or not isinstance(batch, Iterable)
            yield from batch_inputs(model, batch if is_single else list(batch), tokenizer, truncate)
    else:
        raise Problem(
            "{given} is not a sentence: give a string, a file's path, token ids, or a model's inputs as a dictionary",
            given=repr(batches)[:60],
        )


def _name_of_ids(model: nn.Module | LoadedModel) -> str:
    """Argument name of the token ids in the model's forward: input_ids, or else its first argument."""
    parameters = inspect.signature(torch_module(model).forward).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    return "input_ids" if open_ended or not names or "input_ids" in names else names[0]


def find_token_ids(inputs: dict[str, Any]) -> Tensor | None:
    """The token ids (B, T) among a model's inputs: input_ids, or else the first that can be ids."""
    values = [inputs["input_ids"]] if "input_ids" in inputs else list(inputs.values())
    rows = (tensor for tensor in values if isinstance(tensor, Tensor) and tensor.dim() == 2)
    return next((matrix for matrix in rows if not matrix.is_floating_point() and matrix.dtype != torch.bool), None)


def split_batch(inputs: dict[str, Any], tokens: int) -> Iterator[dict[str, Any]]:
    """Split a batch into chunks of whole sentences with about `tokens` positions, so that memory is bounded."""
    ids = find_token_ids(inputs)
    if ids is None:
        yield inputs
        return
    count, length = ids.shape
    step = max(1, tokens // max(1, length))
    for start in range(0, count, step):
        yield {
            name: value[start : start + step]
            if isinstance(value, Tensor) and value.dim() and value.shape[0] == count
            else value
            for name, value in inputs.items()
        }


def _read_record(
    model: nn.Module | LoadedModel, record: dict[str, Any], tokenizer: Any, truncate: bool
) -> dict[str, Any]:
    """A model's inputs; or a row of a data set, which holds its sentence as "text" or its ids as a list."""
    if any(isinstance(value, Tensor) for value in record.values()):
        return dict(record)
    if isinstance(record.get("text"), str):
        return _read(model, record["text"], tokenizer, truncate)
    if record.get("input_ids"):
        return {_name_of_ids(model): torch.tensor([list(record["input_ids"])])}
    raise Problem("a dictionary must hold a model's inputs as tensors, or a sentence as text")


def _read(model: nn.Module | LoadedModel, text: str, tokenizer: Any, truncate: bool) -> dict[str, Any]:
    if isinstance(model, LoadedModel) and tokenizer is None:
        return dict(encode_whole(model, text, truncate).inputs)
    if tokenizer is None:
        raise Problem("a sentence needs a tokenizer: give tokenizer=, or token ids in its place")
    module = torch_module(model)
    limit = max_positions(module, tokenizer)
    how = {"truncation": True, "max_length": limit} if truncate and limit is not None else {}
    read = dict(tokenizer(text, return_tensors="pt", **how))
    ids = find_token_ids(read)
    require_positions(type(module).__name__, 0 if ids is None else ids.shape[1], limit)
    return read


@dataclass(frozen=True)
class Book:
    """A novel and its passages."""

    title: str
    author: str
    year: int
    ebook: int  #: its number at Project Gutenberg
    passages: tuple[str, ...]


@lru_cache(maxsize=1)
def books() -> tuple[Book, ...]:
    """The eight novels."""
    text = (files(__package__) / "data" / "public_domain.json").read_text("utf-8")
    return tuple(Book(**(book | {"passages": tuple(book["passages"])})) for book in json.loads(text)["books"])


def passages() -> tuple[str, ...]:
    """All passages: the first of every book, then the second of every book, and so on."""
    return tuple(chain.from_iterable(zip(*(book.passages for book in books()), strict=True)))
