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
        for config in configs(model):
            config._attn_implementation_internal = NAME
    return model


def takes_interface(model: nn.Module) -> bool:
    """Whether any of the model's code looks its attention function up where ours is registered."""
    files = {type(module).__module__ for module in model.modules()}
    return any(hasattr(sys.modules.get(file), "ALL_ATTENTION_FUNCTIONS") for file in files)


def configs(model: nn.Module) -> list[Any]:
    """Every config object that some part of the model reads, each once."""
    found = {
        id(config): config for module in model.modules() if (config := getattr(module, "config", None)) is not None
    }
    return [config for config in found.values() if hasattr(config, "_attn_implementation_internal")]


def original(owner: Any) -> str | None:
    """The implementation a module (or a config) had before a running capture switched it over."""
    config = getattr(owner, "config", owner)
    entry = _switched.get(id(config))
    return entry.before if entry is not None else getattr(config, "_attn_implementation", NAME)


@contextmanager
def switched(model: nn.Module, name: str = NAME) -> Iterator[None]:
    """Have `model` run implementation `name` inside the block; blocks of one name overlap freely."""
    wanted = [config for config in configs(model) if config._attn_implementation != name or id(config) in _switched]
    with _changed:
        _changed.wait_for(lambda: all(_free(config, name) for config in wanted))
        for config in wanted:
            entry = _switched.setdefault(id(config), _Switched(config, config._attn_implementation, name, 0))
            entry.users += 1
            config._attn_implementation_internal = name
    try:
        yield
    finally:
        with _changed:
            for config in wanted:
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
