"""Change the residual stream where it enters a block, while a model runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.core.message import Problem, Several
from attnviz.models.capture.compiled import plain_name
from attnviz.models.capture.edit import Edit, layers_chosen, numbers_chosen, within
from attnviz.models.capture.head_selection import broadcasts
from attnviz.models.capture.residual_watch import block_of, is_hidden
from attnviz.models.capture.trace import Trace

NamedBlock = tuple[str, nn.Module]


@contextmanager
def changing_streams(model: nn.Module, edits: Sequence[Edit]) -> Iterator[None]:
    """Inside the block, this thread's passes have the stream that each edit's `stream` puts at its blocks' input."""
    hooks: list[Any] = []
    try:
        for edit in edits:
            for name, block in _chosen(model, edit):
                hooks.append(block.register_forward_pre_hook(_putting(edit, name), with_kwargs=True))
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _chosen(model: nn.Module, edit: Edit) -> list[NamedBlock]:
    """The blocks that an edit names by number or by their modules' names; a Problem where one is not there."""
    lists = _lists(model, edit.tower)
    found: list[NamedBlock] = []
    for each in layers_chosen(edit.layers):
        if isinstance(each, str) and each != "all":
            named = [block for blocks in lists.values() for block in blocks if within(block[0], each)]
        else:
            if len(lists) > 1:
                raise Problem(
                    "layer {index} is in {towers}: say which, as tower", index=each, towers=Several(sorted(lists))
                )
            blocks = next(iter(lists.values()), [])
            named = blocks if each == "all" else [block for block in blocks if block[0].rpartition(".")[2] == str(each)]
        if not named:
            raise Problem("{model} has no layer {missing} to change", model=type(model).__name__, missing=each)
        found += named
    return found


def _lists(model: nn.Module, tower: str | None) -> dict[str, list[NamedBlock]]:
    """The outermost numbered modules, by the dotted name of the list that they are in; of one tower, if it is named."""
    found: dict[str, list[NamedBlock]] = {}
    for full, module in model.named_modules():
        name = plain_name(full)
        above = name.rpartition(".")[0]
        is_block = bool(name) and block_of(name) == name and any(True for _ in module.children())
        if is_block and (tower is None or within(above, tower)):
            found.setdefault(above, []).append((name, module))
    return found


def _putting(edit: Edit, name: str) -> Callable[..., Any]:
    """The hook that changes what a block is given."""
    owner = threading.get_ident()

    def put(
        _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        if threading.get_ident() != owner:
            return None
        place = next((n for n, each in enumerate(args) if is_hidden(each)), None)
        if place is not None:
            return (*args[:place], _changed(edit, name, args[place]), *args[place + 1 :]), kwargs
        key = next((key for key, each in kwargs.items() if is_hidden(each)), None)
        if key is None:
            raise Problem("{name} is not given a residual stream", name=name)
        return args, kwargs | {key: _changed(edit, name, kwargs[key])}

    return put


def _changed(edit: Edit, name: str, own: Tensor) -> Tensor:
    """The stream (B, Q, M) with what the edit puts at its positions."""
    given = edit.stream
    if isinstance(given, Trace):
        if given.residual is None or name not in given.residual.blocks:
            raise Problem(
                "the trace that stream is taken from has none at {name}: capture it with residual=True", name=name
            )
        new: Any = given.residual[given.residual.blocks.index(name)]
    else:
        new = given(own.clone()) if callable(given) else given
    if not isinstance(new, Tensor) or not broadcasts(tuple(new.shape), tuple(own.shape)):
        shape = tuple(new.shape) if isinstance(new, Tensor) else type(new).__name__
        raise Problem("stream has shape {shape}; it must broadcast to {wanted}", shape=shape, wanted=tuple(own.shape))
    new = new.to(own).expand_as(own)
    if edit.at == "all":
        return new.clone()
    rows = list(numbers_chosen("at", edit.at, 0))
    if any(not -own.shape[1] <= row < own.shape[1] for row in rows):
        raise Problem("at={at} must be positions of a stream of {count} tokens", at=rows, count=own.shape[1])
    made = own.clone()
    places = torch.tensor(rows, device=own.device)
    made[:, places] = new[:, places]
    return made
