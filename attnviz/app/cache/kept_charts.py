"""A chart that one visitor has seen is not built again for the next one.

Plotly takes 3 to 15 ms to build a chart, and a class looks at the same ones. Charts of the same numbers in the same
language are one object, which everybody draws and nobody may change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, ParamSpec

import numpy as np

from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.base.words import tongue
from attnviz.figures.label_room import keep_room
from attnviz.figures.theme import Figure

P = ParamSpec("P")

LIMIT = 48 * 2**20  #: bytes of all kept charts together, as they are sent
_PLAIN = (str, int, float, bool, bytes, type(None), np.generic)


class _Unknown(Exception):
    """A value of which nobody can say whether another one equals it."""


def chart_of(make: Callable[P, Figure], *args: P.args, **kwargs: P.kwargs) -> Figure:
    """`make(*args, **kwargs)`, or the chart that the same call made before."""
    try:
        key = _key(make, args, kwargs)
    except _Unknown:
        return make(*args, **kwargs)
    return CHARTS.get(key, lambda: _told_once(make(*args, **kwargs)))


def _told_once(fig: Figure) -> Figure:
    """The chart, which from now on tells what the browser gets of it from memory: nobody changes it any more.

    To tell it takes Plotly longer than all else that it takes to send a chart.
    """
    told = keep_room(fig).to_dict()
    object.__setattr__(fig, "to_dict", lambda: dict(told))
    return fig


def with_room(fig: Figure) -> Figure:
    """The chart with margins for its labels. A kept one has them, and is changed no more."""
    return fig if "to_dict" in vars(fig) else keep_room(fig)


def _key(make: Callable[..., Figure], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bytes:
    """The same for the same call only: of the function, the language, and all that it is given."""
    said = hashlib.blake2b(digest_size=20)
    _tell(said.update, (make.__module__, make.__qualname__, tongue(), args, kwargs))
    return said.digest()


def _tell(hear: Callable[[bytes], None], value: Any) -> None:
    """Spell a value out, each part with its kind and its length, so that no two values are spelled alike."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        hear(f"array {value.dtype.str} {value.shape}:".encode())
        hear(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, _PLAIN):
        spelled = repr(value).encode()
        hear(f"{type(value).__name__} {len(spelled)}:".encode() + spelled)
    elif isinstance(value, Mapping):
        hear(f"mapping {len(value)}:".encode())
        for pair in value.items():
            _tell(hear, pair)
    elif isinstance(value, FunctionType) and value.__closure__ is None and "<" not in value.__qualname__:
        hear(f"function {value.__module__}.{value.__qualname__}:".encode())
    elif is_dataclass(value) and not isinstance(value, type):
        hear(f"{type(value).__qualname__}:".encode())
        _tell(hear, [getattr(value, field.name) for field in fields(value)])
    elif isinstance(value, Sequence | np.ndarray):
        hear(f"sequence {len(value)}:".encode())
        for each in value:
            _tell(hear, each)
    else:
        raise _Unknown


def _weight(fig: Figure) -> int:
    """Bytes of a chart as the browser gets it."""
    return len(fig.to_json())


CHARTS: BoundedCache[Figure] = BoundedCache(LIMIT, _weight)
