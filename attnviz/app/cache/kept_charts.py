"""A chart that one visitor has seen is not built again for the next one.

Plotly takes 3 to 15 ms to build a chart, and a class looks at the same ones. Charts of the same numbers in the same
language are one object, which everybody draws and nobody may change.
"""

import hashlib
import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain
from types import FunctionType
from typing import Any, ParamSpec

import numpy as np

from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.base.words import tongue
from attnviz.figures.label_room import keep_room
from attnviz.figures.theme import Figure

P = ParamSpec("P")

LIMIT = 48 * 2**20  #: bytes of all kept charts together, as they are sent
_LITERALS = {str, int, float, bool, bytes, type(None)}
_PLAIN = (str, int, float, bool, bytes, type(None), np.generic)


class _Unknown(Exception):
    """A value of which nobody can say whether another one equals it."""


def chart_of(make: Callable[P, Figure], *args: P.args, **kwargs: P.kwargs) -> Figure:
    """`make(*args, **kwargs)`, or the chart that the same call made before, in the same language."""
    try:
        spelled = b"".join(_spelled((make.__module__, make.__qualname__, tongue(), args, kwargs)))
    except _Unknown:
        return make(*args, **kwargs)
    return CHARTS.get(hashlib.blake2b(spelled, digest_size=20).digest(), lambda: _final(make(*args, **kwargs)))


def _final(fig: Figure) -> Figure:
    """The chart, whose content for the browser is read from memory from now on: nobody changes it any more.

    To collect that content takes Plotly longer than all else that it takes to send a chart. Of Streamlit's template it
    keeps what is about its own kinds of traces: the rest is half of what a small chart sends.
    """
    content = keep_room(fig).to_dict()
    template, kinds = content["layout"]["template"], {trace.get("type", "scatter") for trace in content["data"]}
    template["data"] = {kind: looks for kind, looks in template["data"].items() if kind in kinds}
    object.__setattr__(fig, "to_dict", lambda: dict(content))
    return fig


def with_room(fig: Figure) -> Figure:
    """The chart with margins for its labels. A kept one has them, and is changed no more."""
    return fig if "to_dict" in vars(fig) else keep_room(fig)


def _spelled(value: Any) -> Iterator[bytes]:
    """A value spelled out, each part with its kind and its length, so that no two values are spelled alike."""
    inner: Iterable[Any] = ()
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield f"array {value.dtype.str} {value.shape}:".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, _PLAIN):
        text = repr(value).encode()
        yield f"{type(value).__name__} {len(text)}:".encode() + text
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)}:".encode()
        inner = value.items()
    elif isinstance(value, FunctionType) and value.__closure__ is None and "<" not in value.__qualname__:
        yield f"function {value.__module__}.{value.__qualname__}:".encode()
    elif is_dataclass(value) and not isinstance(value, type):
        yield f"{type(value).__qualname__}:".encode()
        inner = [[getattr(value, field.name) for field in fields(value)]]
    elif isinstance(value, Sequence | np.ndarray):
        yield f"sequence {len(value)}:".encode()
        kinds = set(map(type, value))
        if kinds <= {tuple, list}:  # rows of them
            kinds = set(map(type, chain.from_iterable(value)))
        if kinds <= _LITERALS:  # thousands of numbers and words; the second format writes no references
            yield marshal.dumps(list(value), 2)
        else:
            inner = value
    else:
        raise _Unknown
    for each in inner:
        yield from _spelled(each)


CHARTS: BoundedCache[Figure] = BoundedCache(LIMIT, lambda fig: len(fig.to_json()))  # bytes, as the browser gets it
