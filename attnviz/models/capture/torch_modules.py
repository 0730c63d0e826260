"""A model as torch sees it: its modules by name, hooks on them, and a compiled model run as it was written.

A compiled model is read and changed uncompiled: the weights are the same, and every attention call comes by.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from attnviz.base.message import Problem

_WRAPPED = "_orig_mod"  #: where torch.compile keeps the module that it wraps, also in the names of what is below

_lock = Lock()
_inside: list[Any] = []  # the stance that was taken, once for all who need it, and one entry for each of them


def unwrapped(model: Any) -> nn.Module:
    """The model that torch.compile was given, or that a loaded model holds; a Problem where there is none."""
    if not isinstance(model, nn.Module) and isinstance(getattr(model, "model", None), nn.Module):
        model = model.model
    if not isinstance(model, nn.Module):
        raise Problem("{given} is neither a model nor a method of one", given=repr(model)[:60])
    inner = getattr(model, _WRAPPED, model)
    return inner if isinstance(inner, nn.Module) else model


def modules_by_name(model: nn.Module) -> dict[str, nn.Module]:
    """All modules by their dotted names, which are those of the model that was not compiled."""
    return {plain_name(name): module for name, module in model.named_modules()}


def plain_name(name: str) -> str:
    """A module's name as it is in the model that was not compiled."""
    return ".".join(part for part in name.split(".") if part != _WRAPPED)


def above(name: str) -> str:
    """The dotted name of the module that holds this one."""
    return name.rpartition(".")[0]


def has_two_stacks(model: nn.Module | None) -> bool:
    """Whether its config says that it has an encoder and a decoder."""
    return bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))


def is_hidden(value: Any) -> bool:
    """Whether it has the shape of hidden states, (B, Q, M)."""
    return isinstance(value, Tensor) and value.dim() == 3 and value.is_floating_point()


def block_of(name: str) -> str | None:
    """The dotted name up to the first number."""
    parts = name.split(".")
    first = next((place for place, part in enumerate(parts) if part.isdigit()), None)
    return None if first is None else ".".join(parts[: first + 1])


@contextmanager
def hooked(handles: Iterable[RemovableHandle]) -> Iterator[None]:
    """Hooks are removed at the end of the block; those that a generator has made, also where it fails midway."""
    with ExitStack() as stack:
        for handle in handles:
            stack.enter_context(handle)
        yield


def in_this_thread(hook: Callable[..., Any]) -> Callable[..., Any]:
    """The hook, which does nothing in any other thread: one model serves many at the same time."""
    owner = threading.get_ident()
    return lambda *given: hook(*given) if threading.get_ident() == owner else None


@contextmanager
def uncompiled(model: nn.Module) -> Iterator[None]:
    """Compiled parts of `model` run as they were written inside the block; overlapping blocks are counted."""
    if not _has_compiled_parts(model):
        yield
        return
    with _lock:
        if not _inside:
            _inside.append(torch.compiler.set_stance("force_eager"))
            _inside[0].__enter__()
        _inside.append(None)
    try:
        yield
    finally:
        with _lock:
            _inside.pop()
            if len(_inside) == 1:
                _inside.pop().__exit__(None, None, None)


def _has_compiled_parts(model: nn.Module) -> bool:
    return "torch._dynamo" in sys.modules and any(map(_is_compiled, model.modules()))  # else nothing was compiled here


def _is_compiled(module: nn.Module) -> bool:
    return (
        hasattr(module, _WRAPPED)
        or getattr(module, "_compiled_call_impl", None) is not None
        or hasattr(vars(module).get("forward"), "_torchdynamo_orig_callable")
    )
