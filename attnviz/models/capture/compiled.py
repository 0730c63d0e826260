"""A compiled model is read and changed uncompiled: the same weights, and every attention call comes by."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import torch
from torch import nn

_WRAPPED = "_orig_mod"  #: where torch.compile keeps the module that it wraps, also in the names of what is below

_lock = Lock()
_inside: list[Any] = []  # the stance that was taken, once for all who need it, and one entry for each of them


def unwrapped(model: Any) -> nn.Module:
    """The model that torch.compile was given, or that a loaded model holds."""
    if not isinstance(model, nn.Module) and isinstance(getattr(model, "model", None), nn.Module):
        model = model.model
    inner = getattr(model, _WRAPPED, model)
    return inner if isinstance(inner, nn.Module) else model


def plain_name(name: str) -> str:
    """A module's name as it is in the model that was not compiled."""
    return ".".join(part for part in name.split(".") if part != _WRAPPED)


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
    if "torch._dynamo" not in sys.modules:  # nothing was compiled in this process
        return False
    return any(_is_compiled(module) for module in model.modules())


def _is_compiled(module: nn.Module) -> bool:
    forward = vars(module).get("forward")
    return (
        hasattr(module, _WRAPPED)
        or getattr(module, "_compiled_call_impl", None) is not None
        or hasattr(forward, "_torchdynamo_orig_callable")
    )
