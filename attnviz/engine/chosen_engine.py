"""The engine that the setting names, one for the whole process; Ray is imported here, and only where it is named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, Final

from attnviz.core.message import Problem
from attnviz.engine.engine_protocol import Engine
from attnviz.models.engine_address import EngineAddress
from attnviz.models.settings import current

Turn = Callable[[], AbstractContextManager[Any]]
#: passes in one process: at the same time, where more would only slow each other down; and that may wait, which is a
#: class of three hundred who all type at once, and some more
HERE_AT_ONCE: Final = 2
HERE_WAITING: Final = 400

_one_at_a_time: Final = threading.Lock()  #: else two first visitors would have an engine each


def elsewhere(turn: Turn = nullcontext) -> Engine | None:
    """What ATTNVIZ_ENGINE names; None where that is this process. `turn` is waited for before each pass."""
    address = current().engine
    if address is None:
        return None
    with _one_at_a_time:
        return _on_ray(address, turn)


def passes_at_once() -> tuple[int, int]:
    """How many passes the engine makes at the same time, and how many more may wait."""
    try:
        address = current().engine
    except Problem:
        address = None  # whoever asks for the engine hears of it
    if address is None:
        return HERE_AT_ONCE, HERE_WAITING
    return HERE_AT_ONCE * address.replicas[1], address.queue


@cache
def _on_ray(address: EngineAddress, turn: Turn) -> Engine:
    try:
        from attnviz.engine.on_ray import RayEngine  # here because nobody else has Ray installed
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] != "ray":
            raise
        raise Problem(
            "ATTNVIZ_ENGINE names Ray, which is not installed: pip install 'attnviz[cluster]' brings it"
        ) from None
    return RayEngine(address, turn)
