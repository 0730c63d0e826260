"""Gestures made before the browser heard what the server had set.

Seen in Streamlit 1.67: with every gesture the browser sends the values of all widgets. When a canvas, a key or a link
has just set one of them, a gesture made in the same moment still brings the value before it, and Streamlit takes that
for a change: the slider that was let go would jump back because a section was chosen at once. Words for a report:
"value set through session_state is overwritten by a stale value of the next rerun".
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.mends import streamlit_adapter

_SHOWN = "_values_the_browser_may_show"
MOST = 8  #: values remembered for a widget; a browser that is further behind has lost its connection


def set_before_drawn(key: str, value: Any) -> None:
    """Set a widget's value, before it is drawn, and remember what the browser shows until it hears of it."""
    before = streamlit_adapter.of_session(_SHOWN)
    if key not in st.session_state:
        st.session_state[key] = value
    elif st.session_state[key] == value:
        before.pop(key, None)  # so the browser says, too
    else:
        before[key] = [*before.get(key, []), st.session_state[key]][-MOST:]
        st.session_state[key] = value


def is_late(key: str) -> bool:
    """Whether a change that Streamlit reports is only a value from before. Ask in the widget's callback.

    A gesture is one change: what comes back beside another is no gesture, and neither is what comes from a browser
    whose address does not hold yet what was written into it.
    """
    if st.session_state[key] not in streamlit_adapter.of_session(_SHOWN).get(key, []):
        return False
    return not link_state.is_written() or streamlit_adapter.changed_at_once() > 1
