"""What a config.json of a stranger's making may not ask for, looked for in all of it: configs are nested in configs.

It is asked before transformers sees the config, because its classes make lists as long as the config says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

#: fields that count parts which are built one by one; families name them each in its own way
_COUNTS_PARTS: Final = re.compile(r"(?:^|_)(?:layers?|depths?|blocks?|stages?|experts)$")
#: of these, fields that may be a list with the count of each stage
_BY_STAGE: Final = re.compile(r"(?:^|_)(?:depths?|blocks?)$")
#: where a config may name a function for its attention or its experts; with a slash it is a kernel of the hub
_NAMES_CODE: Final = re.compile(r"^_?(?:attn|experts)_implementation(?:_internal)?$")


def too_many(config: Mapping[str, Any], most: int) -> tuple[str, int] | None:
    """The first field that asks for more than `most` layers, blocks or experts, with its number."""
    for path, name, value in _fields(config):
        if not _COUNTS_PARTS.search(name):
            continue
        count = _count(name, value)
        if count is not None and count > most:
            return path, count
    return None


def kernel(config: Mapping[str, Any]) -> str | None:
    """The first kernel of the hub that the config names: transformers would download and run it."""
    for _path, name, value in _fields(config):
        if _NAMES_CODE.search(name):
            named = value.values() if isinstance(value, Mapping) else [value]
            for each in named:
                if "/" in str(each):
                    return str(each)
    return None


def _count(name: str, value: Any) -> int | None:
    if isinstance(value, list | tuple):
        counts = [each for each in value if isinstance(each, int)]
        return sum(counts) if _BY_STAGE.search(name) else max([len(value), *counts])
    return value if isinstance(value, int) and not isinstance(value, bool) else None


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
