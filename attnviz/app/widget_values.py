"""Keep a widget's value and the browser's copy of it consistent when one of them arrives late.

Two faults of Streamlit are mended here (seen in 1.67). With every gesture the browser sends the values of all widgets.
When a canvas, a key or a link has just set one of them, a gesture made in the same moment still brings the value before
it, and Streamlit takes that for a change: the slider that was let go would jump back because a section was chosen at
once. Words for a report: "value set through session_state is overwritten by a stale value of the next rerun".

And a value is sent only by the run that sets it. A run that a gesture ends may have said nothing yet: then the browser
shows the least number or the first name instead, and sends that as a change. So it is set again, until a run has come
to its end. Words for a report: "session_state value of an interrupted run never reaches the widget".

A browser whose server has ended comes back with a new session, and sends the values of all widgets. What the visitor
changed before he had an answer is among them and not in the link: it is taken from there.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.workarounds import streamlit_adapter

_BROWSER_VALUES = "_values_the_browser_may_show"
_RETURNED = "_values_from_a_session_before"
_UNHEARD = "_values_the_browser_may_not_have_heard"
_JUST_SET: ContextVar[list[str] | None] = ContextVar("keys that this run has set", default=None)
MOST = 8  #: values remembered for a widget; a browser that is further behind has lost its connection


def set_before_drawn(key: str, value: Any, changed: Callable[[], None]) -> None:
    """Set a widget's value before it is drawn, and remember what the browser shows until it gets the new one.

    `changed` is the widget's callback.
    """
    before, returned, unheard = map(streamlit_adapter.session_dict, (_BROWSER_VALUES, _RETURNED, _UNHEARD))
    if key in returned:  # until `apply_returned_values` has seen it, the browser's stays
        returned[key] = value, changed
        return
    is_set = key in st.session_state
    if is_set and st.session_state[key] != value:
        before[key] = [*before.get(key, []), st.session_state[key]][-MOST:]
    elif is_set and key not in unheard:
        before.pop(key, None)  # so the browser says, too
        return
    st.session_state[key] = value
    if (just_set := _JUST_SET.get()) is not None:
        just_set.append(key)
        unheard[key] = None


def bind_widget(key: str, value: Any, keep: Callable[[Any], None]) -> dict[str, Any]:
    """Set the value of a widget that no declared choice draws; its key and its callback, as the widget takes them.

    `keep` is called with what the visitor changes it to.
    """

    def changed() -> None:
        if not is_late(key):
            keep(st.session_state[key])

    set_before_drawn(key, value, changed)
    return {"key": key, "on_change": changed}


@contextmanager
def set_when_complete() -> Iterator[None]:
    """Mark values set inside as sent once the block completes; if a gesture interrupts it, they are set again."""
    if _JUST_SET.get() is not None:
        yield
        return
    just_set: list[str] = []
    before = _JUST_SET.set(just_set)
    try:
        yield
        for key in just_set:
            streamlit_adapter.session_dict(_UNHEARD).pop(key, None)
    finally:
        _JUST_SET.reset(before)


def note_returned_widgets() -> None:
    """As a session begins, note whose values the browser has sent: those of a page that another session had drawn."""
    if _RETURNED not in streamlit_adapter.app_session():
        streamlit_adapter.app_session()[_RETURNED] = dict.fromkeys(streamlit_adapter.sent_keys())


def apply_returned_values() -> None:
    """After the page is drawn: have what differs from the link changed, as if it were changed now, and run again."""
    returned = streamlit_adapter.session_dict(_RETURNED)
    pending = {key: binding for key, binding in returned.items() if binding is not None}
    changes = [changed for key, (value, changed) in pending.items() if st.session_state.get(key, value) != value]
    for changed in changes:
        changed()
    returned.clear()  # last: a newer gesture may end this run at any look into the session
    if changes:
        st.rerun()


def is_late(key: str) -> bool:
    """Whether a change that Streamlit reports is only a value from before. Ask in the widget's callback.

    A gesture is one change: what comes back beside another is no gesture, and neither is what comes from a browser
    whose address does not hold yet what was written into it.
    """
    if st.session_state[key] not in streamlit_adapter.session_dict(_BROWSER_VALUES).get(key, []):
        return False
    return not link_state.is_written() or streamlit_adapter.count_changed_widgets() > 1
