"""Frozen dataclasses as JSON, and back: the names of their fields in camel case, bytes as base64, tuples as lists.

A field with `field(metadata=UNSENT)` stays in Python. `scripts/record_types.py` writes the same rules as TypeScript.
"""

import base64
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import Field, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from attnviz.base.message import NONSENSE

R = TypeVar("R")
UNSENT = {"sent": False}


def json_name(name: str) -> str:
    """The name of a field in JSON and JavaScript."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def sent_fields(record: Any) -> list[Field[Any]]:
    """The fields of a record, or of its class, that JSON has."""
    return [field for field in fields(record) if field.metadata.get("sent", True)]


def to_json(value: Any) -> Any:
    """Convert a record, or a value of one of its fields, to JSON types."""
    if is_dataclass(value):
        return {json_name(field.name): to_json(getattr(value, field.name)) for field in sent_fields(value)}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return [to_json(item) for item in value] if isinstance(value, list | tuple) else value


def from_json(record: type[R], plain: Mapping[str, Any]) -> R:
    """The record that JSON holds. ValueError or TypeError where a value is of another type, LookupError without it."""
    types = get_type_hints(record)
    names = [field.name for field in sent_fields(record)]
    return record(**{name: read_as(types[name], plain[json_name(name)]) for name in names})


def read_as(expected: Any, value: Any) -> Any:
    """Convert a JSON value to the expected type, also tuples, lists and unions; exceptions as in `from_json`."""
    if is_dataclass(expected):
        return from_json(cast(type[Any], expected), value)
    options, kind = get_args(expected), get_origin(expected)
    if kind in (Union, UnionType):
        for option in options:
            with suppress(*NONSENSE):
                return read_as(option, value)
    elif kind is list or (kind is tuple and options[1:] == (...,)):
        return kind(read_as(options[0], item) for item in list(value))
    elif kind is tuple:
        return tuple(read_as(option, item) for option, item in zip(options, value, strict=True))
    elif isinstance(expected, type) and issubclass(expected, tuple):
        hints = get_type_hints(expected).values()
        return expected(*(read_as(hint, item) for hint, item in zip(hints, value, strict=True)))
    if expected is bytes:
        return base64.b64decode(value, validate=True)
    if expected is float and type(value) is int:
        value = float(value)
    fits = type(value) is expected or (kind is Literal and value in options)
    if fits and (expected is not float or math.isfinite(value)):
        return value
    raise ValueError(f"{value!r} is no {expected}")
