"""Which of the browser's gestures an answer has heard of: the Python side of src/sequence.js.

Every gesture is sent with a number. An answer names the newest one that it knew, and the session that knew it, so that
the browser can tell an answer that a newer gesture has overtaken from one by a session that begins anew.
"""

from __future__ import annotations

import secrets
from typing import Any

import streamlit as st

_SESSION = "_canvas_session"


def session_name() -> str:
    """A name for this session, the same on every run."""
    return str(st.session_state.setdefault(_SESSION, secrets.token_hex(4)))


def answering(ack: Any) -> dict[str, Any]:
    """The fields of a header that say what it answers: `ack` is the number of the newest gesture heard, or nothing."""
    return {"session": session_name(), "ack": ack if isinstance(ack, int) else 0}
