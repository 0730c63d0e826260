"""A part of a page that runs again alone when one of its own controls changes; never one inside another.

Streamlit 1.67 loses messages of a fragment inside a fragment when two gestures come within the time that a busy server
needs to send, and the browser then stops at "Cannot set a node at a delta path". So a part inside a part is drawn as
plain lines of it, and its controls run the part around it again. Words for a report: "nested fragments, Cannot set a
node at a delta path after two quick reruns".
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec

import streamlit as st

P = ParamSpec("P")
_INSIDE: ContextVar[bool] = ContextVar("inside a fragment", default=False)


def fragment(draw: Callable[P, None]) -> Callable[P, None]:
    """`draw` as Streamlit's fragment, or as it is where it is called inside of one."""

    @wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> None:
        before = _INSIDE.set(True)
        try:
            draw(*args, **kwargs)
        finally:
            _INSIDE.reset(before)

    alone = st.fragment(inside)

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> None:
        (inside if _INSIDE.get() else alone)(*args, **kwargs)

    return drawn
