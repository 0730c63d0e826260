"""How much memory a cached value holds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass


def held_bytes(value: object) -> int:
    """Bytes of the arrays and tensors in a value, searched for inside dataclasses, mappings and collections."""
    nbytes = getattr(value, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes
    if is_dataclass(value) and not isinstance(value, type):
        return sum(held_bytes(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return sum(held_bytes(key) + held_bytes(each) for key, each in value.items())
    if isinstance(value, list | tuple | AbstractSet):
        return sum(held_bytes(each) for each in value)
    return sys.getsizeof(value)
