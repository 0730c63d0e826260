"""What a config.json of a stranger's making may not ask for, looked for in all of it: configs are nested in configs.

It is asked before transformers or timm sees the config, because their classes make lists as long as the config says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attnviz.base.message import Problem
from attnviz.models.catalogue import Entry

MOST_LAYERS: Final = 1024  #: every layer is built, if only on the meta device, before its size is known

#: fields that count parts which are built one by one; families name them each in its own way
_COUNTS_PARTS: Final = re.compile(r"(?:^|_)(?:layers?|depths?|blocks?|stages?|experts)$")
#: of these, fields that may be a list with the count of each stage
_BY_STAGE: Final = re.compile(r"(?:^|_)(?:depths?|blocks?)$")
#: where a config may name a function for its attention or its experts; with a slash it is a kernel of the hub
_NAMES_CODE: Final = re.compile(r"^_?(?:attn|experts)_implementation(?:_internal)?$")


def read_json(file: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None where the file cannot be read or holds something else."""
    try:
        held = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return held if isinstance(held, dict) else None


def too_many(config: Mapping[str, Any], most: int) -> tuple[str, int] | None:
    """The first field that asks for more than `most` layers, blocks or experts, with its number."""
    for path, name, value in _fields(config):
        if _COUNTS_PARTS.search(name) and (count := _count(name, value)) > most:
            return path, count
    return None


def kernel(config: Mapping[str, Any]) -> str | None:
    """The first kernel of the hub that the config names: transformers would download and run it."""
    for _path, name, value in _fields(config):
        named = value.values() if isinstance(value, Mapping) else [value]
        kernels = [str(each) for each in named if "/" in str(each)] if _NAMES_CODE.search(name) else []
        if kernels:
            return kernels[0]
    return None


def check_layers(config: Mapping[str, Any], entry: Entry) -> None:
    """Refuse a config that asks for more layers, blocks or experts than are built here."""
    if many := too_many(config, MOST_LAYERS):
        raise Problem(
            "The config of {name} asks for {field}={count}; at most {most} are built here",
            name=entry.name,
            field=many[0][:80],
            count=str(many[1])[:40],
            most=MOST_LAYERS,
        )


def no_model(entry: Entry, error: Exception) -> Problem:
    """A config that its library refuses."""
    return Problem("The config of {name} describes no model: {reason}", name=entry.name, reason=first_line(error))


def first_line(error: Exception) -> str:
    """The first line of what another library says went wrong, or the kind of error where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def _count(name: str, value: Any) -> int:
    """How many parts a field asks for; 0 where it is no count."""
    if isinstance(value, list | tuple):
        counts = [each for each in value if isinstance(each, int)]
        return sum(counts) if _BY_STAGE.search(name) else max([len(value), *counts])
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _fields(config: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Every field of a config and of those inside it: dotted name, last part of the name, value."""
    waiting: list[tuple[str, Any]] = [("", config)]
    while waiting:
        above, inside = waiting.pop()
        if isinstance(inside, Mapping):
            for name, value in inside.items():
                path = f"{above}.{name}" if above else str(name)
                yield path, str(name), value
                waiting.append((path, value))
        elif isinstance(inside, list | tuple):
            waiting += [(above, value) for value in inside if isinstance(value, Mapping | list | tuple)]
