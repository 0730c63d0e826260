"""What the browser reports of a hand, and how an answer says which of its gestures it knows of."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

_SESSION = "_canvas_session"


def mapping(value: Any) -> dict[str, Any]:
    """What a component reported, as a dict, empty where it reported nothing."""
    return dict(value) if hasattr(value, "keys") else {}


def count(value: Any) -> int | None:
    """A number from 0 that a component reported, None where it is not one."""
    return value if isinstance(value, int) and value >= 0 else None


def reported(key: str, name: str) -> dict[str, Any]:
    """What the component `key` reported last under this name, empty before it reported anything."""
    return mapping(mapping(st.session_state.get(key)).get(name))


def session_name() -> str:
    """A name for this session, the same on every run."""
    return str(st.session_state.setdefault(_SESSION, secrets.token_hex(4)))


def answering(ack: Any) -> dict[str, Any]:
    """The fields of a header that say what it answers: `ack` is the number of the newest gesture heard, or nothing."""
    return {"session": session_name(), "ack": ack if isinstance(ack, int) else 0}


@dataclass(frozen=True)
class Gestures:
    """The newest gesture of each kind in a group of views, kept in the session whichever view it happened in.

    A kind is named as the component names it: "pick", "pins", "edit" or "over". The browser numbers the gestures of a
    kind, and does not let an answer that knows of an older one undo what a hand has done since.
    """

    group: str

    def hear(self, kind: str, key: str) -> dict[str, Any]:
        """Keep what the view `key` has just reported; the gesture, without its place in the session. For callbacks."""
        st.session_state[self._name(kind)] = gesture = reported(key, kind)
        return gesture

    def newest(self, kind: str) -> dict[str, Any]:
        """The newest gesture of this kind, empty before the first."""
        return mapping(st.session_state.get(self._name(kind)))

    def number(self, kind: str) -> int:
        """Its number, 0 before the first."""
        return count(self.newest(kind).get("seq")) or 0

    def call(self, kind: str, on_gesture: Callable[[Any], None] | None) -> None:
        """Call this when a gesture of this kind has happened in any view of the group; None: whatever was called."""
        if on_gesture is not None:
            st.session_state[self._name(f"on_{kind}")] = on_gesture

    def tell(self, kind: str, value: Any) -> None:
        """Tell whoever wants to be called of a gesture's value."""
        on_gesture = st.session_state.get(self._name(f"on_{kind}"))
        if on_gesture is not None:
            on_gesture(value)

    def _name(self, kind: str) -> str:
        return f"{self.group}_{kind}"
