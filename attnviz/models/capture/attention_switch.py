"""Which attention function a model calls: ours for good, or ours while a capture runs.

A model that the app loads is adopted. A model handed in from outside is switched over when its
first capture starts and given back exactly as it came when its last one ends, however it ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from typing import Any

from torch import nn

NAME = "attnviz"
#: for families that torch's fused attention does not serve: their code relies on additive masks that are always there
NAME_PLAIN = "attnviz_plain"
OURS = (NAME, NAME_PLAIN)


@dataclass
class _Switched:
    config: Any
    before: str | None
    now: str
    users: int


_changed = Condition()
_switched: dict[int, _Switched] = {}  # by id(config); the entry keeps its config alive


def adopt(model: nn.Module) -> nn.Module:
    """Have `model` call our attention function from now on; it records only inside `capture`.

    A model of a family that does not ask for its attention function is left as it is.
    """
    if takes_interface(model):
        for config, name in ours(model):
            config._attn_implementation_internal = name
    return model


def takes_interface(model: nn.Module) -> bool:
    """Whether any of the model's code looks its attention function up where ours is registered."""
    files = {type(module).__module__ for module in model.modules()}
    return any(hasattr(sys.modules.get(file), "ALL_ATTENTION_FUNCTIONS") for file in files)


def ours(model: nn.Module) -> list[tuple[Any, str]]:
    """Every config object that some part of the model reads, each once, with our name for its family."""
    fused: dict[int, tuple[Any, bool]] = {}
    for module in model.modules():
        config = getattr(module, "config", None)
        if hasattr(config, "_attn_implementation_internal"):
            serves = bool(getattr(module, "_supports_sdpa", False))
            fused[id(config)] = (config, serves or fused.get(id(config), (None, False))[1])
    return [(config, NAME if serves else NAME_PLAIN) for config, serves in fused.values()]


def original(owner: Any) -> str | None:
    """The implementation a module (or a config) had before a running capture switched it over."""
    config = getattr(owner, "config", owner)
    entry = _switched.get(id(config))
    return entry.before if entry is not None else getattr(config, "_attn_implementation", NAME)


@contextmanager
def switched(model: nn.Module, name: str | None = None) -> Iterator[None]:
    """Have `model` run our functions, or implementation `name`, inside the block; alike blocks overlap freely."""
    every = [(config, name or own) for config, own in ours(model)]
    wanted = [pair for pair in every if pair[0]._attn_implementation != pair[1] or id(pair[0]) in _switched]
    with _changed:
        _changed.wait_for(lambda: all(_free(config, now) for config, now in wanted))
        for config, now in wanted:
            entry = _switched.setdefault(id(config), _Switched(config, config._attn_implementation, now, 0))
            entry.users += 1
            config._attn_implementation_internal = now
    try:
        yield
    finally:
        with _changed:
            for config, _ in wanted:
                _release(config)
            _changed.notify_all()


def _free(config: Any, name: str) -> bool:
    entry = _switched.get(id(config))
    return entry is None or entry.now == name


def _release(config: Any) -> None:
    entry = _switched[id(config)]
    entry.users -= 1
    if entry.users == 0:
        config._attn_implementation_internal = entry.before
        del _switched[id(config)]
