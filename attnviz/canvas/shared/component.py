"""Python's side of a component: register and mount it, read its reports, acknowledge gestures.

A bundle is made by scripts/bundle.mjs, with a style sheet beside it. Streamlit serves the script by its address, once
attnviz is installed: `attnviz/pyproject.toml` declares the folder. What many use is a script of its own, SHARED.
"""

import math
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitAPIException

from attnviz.base.message import NONSENSE, Problem
from attnviz.base.packed import pack_blob
from attnviz.rooms.projector import Projector, StrongestKeys

R = TypeVar("R")
BUNDLES = Path(__file__).parents[1] / "bundles"
_PAGE, _SENT, _PROJECTOR = "_page_path", "_canvas_sent", "_projector"
NAMES = tuple(sorted(style.stem for style in BUNDLES.glob("*.css")))
_SCRIPTS = "_stcore/bidi-components/attnviz.shared/"  #: below the app's root
SHARED = f"{_SCRIPTS}shared.js"
FILM_MENU, VIDEO = f"{_SCRIPTS}film_menu.js", f"{_SCRIPTS}video_file.js"  #: fetched when somebody asks for a film


def get_component(name: str) -> Callable[..., Any]:
    """A function that mounts the component `name`, one of NAMES; `row` is of a head that is too large for phones."""

    def mount(
        *, key: str, data: Any, row: Callable[[], StrongestKeys | None] | None = None, **listeners: Callable[[], None]
    ) -> Any:
        st.session_state.setdefault(_SENT, {})[key] = (name, data)
        if (room := projector()) is not None:
            room.show(name, key, data, row)
        return _register(name)(key=key, data=data, **listeners)

    return mount


def projector() -> Projector | None:
    """The room that this visitor's page shows; None where it shows none."""
    room = last_projector()
    return room if room is not None and room.is_open else None


def last_projector() -> Projector | None:
    """The projector of this session, or its last one, whose room has ended or is shown by another page."""
    room: Projector | None = st.session_state.get(_PROJECTOR)
    return room


def set_projector(room: Projector) -> None:
    """Show a room with this visitor's page from now on."""
    st.session_state[_PROJECTOR] = room


@contextmanager
def publishing(fragment: str | None, link: Callable[[], str]) -> Iterator[None]:
    """Publish to the page's room, if it shows one, what a run of the page or of a fragment mounts inside the block."""
    if (room := projector()) is None:
        yield
        return
    with room.run(fragment, link):
        yield


def last_payload(key: str) -> tuple[str, bytes]:
    """Name of the component `key` of this page, and the data it was last sent; KeyError if it is not there."""
    sent: tuple[str, bytes] = st.session_state.get(_SENT, {})[key]
    return sent


@cache
def _register(name: str) -> Callable[..., Any]:
    try:
        return st.components.v2.component(
            f"attnviz.{name}",
            html='<div class="av-root"></div>',
            css=(BUNDLES / f"{name}.css").read_text(encoding="utf-8"),
            js=f"{name}.js",
            isolate_styles=True,
        )
    except StreamlitAPIException as error:
        raise Problem("attnviz is not installed here: in its folder, run `pip install -e .`") from error


def remember_page(path: str) -> None:
    """Say which page runs ("" is the start page); the main script does, before it runs it."""
    if st.session_state.get(_PAGE) != path:
        st.session_state[_SENT] = {}
    st.session_state[_PAGE] = path


def app_root() -> str:
    """The path of the app's root, with a slash at its end."""
    path = urlsplit(st.context.url or "").path.rstrip("/")
    page = st.session_state.get(_PAGE)
    return (path.removesuffix(f"/{page}") if page else path) + "/"


def reported_dict(value: Any) -> dict[str, Any]:
    """A component's report as a dict; empty where it reported nothing."""
    return dict(value) if hasattr(value, "keys") else {}


def last_sent(expected: type[R], key: str, *path: str | int) -> R | None:
    """The value that `key` last sent at this path; None if it is missing or not of the `expected` type."""
    value: Any = st.session_state.get(key)
    for name in path:
        try:
            value = value[name]
        except (TypeError, LookupError):
            return None
    # Streamlit has dicts of its own kinds
    fits = isinstance(value, expected) and (expected is bool or not isinstance(value, bool))
    return value if fits else None


def count(value: Any, below: float = math.inf) -> int | None:
    """A number from 0 that a component reported, None where it is not one or not `below` that."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below else None


def last_report(key: str, name: str) -> dict[str, Any]:
    """The last report of the component `key` under this name; empty before the first."""
    return reported_dict(reported_dict(st.session_state.get(key)).get(name))


def read_report(read: Callable[[dict[str, Any]], R | None], report: dict[str, Any]) -> R | None:
    """A component's report as parsed by `read`; None where it is malformed."""
    try:
        return read(report)
    except NONSENSE:
        return None


def acknowledgement(ack: Any) -> dict[str, Any]:
    """The fields of a header that say what it answers: `ack` is the number of the newest gesture heard, or nothing.

    A session has the same name on every run.
    """
    session = st.session_state.setdefault("_canvas_session", secrets.token_hex(4))
    return {"session": session, "ack": ack if isinstance(ack, int) else 0}


def mount_component(
    name: str,
    key: str,
    kind: str,
    header: dict[str, Any],
    read: Callable[[dict[str, Any]], R | None],
    on_gesture: Callable[[R], None],
    payload: bytes = b"",
    **others: Callable[[], None],
) -> None:
    """Mount the component `name`, which reports gestures of one kind.

    `on_gesture` receives before the rerun what `read` makes of each; a report of which it makes None is dropped. The
    header says in addition which gesture it answers; `others` are listeners to what else the component reports.
    """

    def handle_report() -> None:
        value = read_report(read, last_report(key, kind))
        if value is not None:
            on_gesture(value)

    data = pack_blob(header | acknowledgement(last_report(key, kind).get("seq")), payload)
    get_component(name)(key=key, data=data, **{f"on_{kind}_change": handle_report}, **others)


@dataclass(frozen=True)
class Gestures:
    """The newest gesture of each kind in a group of views, kept in the session whichever view it happened in.

    A kind is named as the component names it: "pick", "pins", "edit" or "over". The browser numbers the gestures of a
    kind, and does not let an answer that knows of an older one undo what a hand has done since.
    """

    group: str

    def receive(self, kind: str, key: str) -> dict[str, Any]:
        """Store and return the gesture that the view `key` has just reported. For callbacks."""
        st.session_state[self._name(kind)] = gesture = last_report(key, kind)
        return gesture

    def pick(self, key: str, heads: Sequence[int], on_pick: Callable[[int, int], None]) -> None:
        """Report the head that the view `key` has just picked; `heads` are the counts of each layer. For callbacks."""
        report = self.receive("pick", key)
        layer = count(report.get("layer"), len(heads))
        head = None if layer is None else count(report.get("head"), heads[layer])
        if layer is not None and head is not None:
            on_pick(layer, head)

    def newest(self, kind: str) -> dict[str, Any]:
        """The newest gesture of this kind, empty before the first."""
        return reported_dict(st.session_state.get(self._name(kind)))

    def number(self, kind: str) -> int:
        """Its number, 0 before the first."""
        return count(self.newest(kind).get("seq")) or 0

    def listen(self, kind: str, on_gesture: Callable[[Any], None] | None) -> None:
        """Register the listener to gestures of this kind in the group; None leaves the registered one."""
        if on_gesture is not None:
            st.session_state[self._name(f"on_{kind}")] = on_gesture

    def notify(self, kind: str, value: Any) -> None:
        """Call the listener to this kind with a gesture's value."""
        on_gesture = st.session_state.get(self._name(f"on_{kind}"))
        if on_gesture is not None:
            on_gesture(value)

    def _name(self, kind: str) -> str:
        return f"{self.group}_{kind}"
