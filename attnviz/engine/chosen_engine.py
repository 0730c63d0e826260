"""The engine that the setting names, one for the whole process; Ray is imported here, and only where it is named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Final

from attnviz.core.message import Problem
from attnviz.engine.engine_protocol import Engine
from attnviz.models.engine_address import EngineAddress
from attnviz.models.settings import current

_one_at_a_time: Final = threading.Lock()  #: else two first visitors would have an engine each


def chosen(here: Callable[[], Engine]) -> Engine:
    """What ATTNVIZ_ENGINE names; `here` makes the one in this process."""
    address = current().engine
    if address is None:
        return here()
    with _one_at_a_time:
        return _on_ray(address)


@cache
def _on_ray(address: EngineAddress) -> Engine:
    try:
        from attnviz.engine.on_ray import RayEngine  # here because nobody else has Ray installed
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] != "ray":
            raise
        raise Problem(
            "ATTNVIZ_ENGINE names Ray, which is not installed: pip install 'attnviz[cluster]' brings it"
        ) from None
    return RayEngine(address)
