"""Widgets whose value lives in the link, by an id that no translation changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar, cast

import streamlit as st

from attnviz.ui.shared.text import plain
from attnviz.words import _

T = TypeVar("T")
Style = Literal["segmented", "select", "radio"]


def choice(
    label: str,
    options: Mapping[str, str],
    key: str,
    *,
    default: str | None = None,
    style: Style = "segmented",
    help: str | None = None,
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
) -> str:
    """One of `options` (id -> words in the visitor's language); the link holds the id under `key`.

    A Streamlit widget bound to the link writes its *label* there, so that a translated label
    breaks the link for readers of another language. Here the id is written, when the visitor
    changes it; Back and Forward, and a link pasted into the same tab, are followed.
    """
    first = default if default is not None and default in options else next(iter(options))
    _follow_link(label, options, key, first)
    ids = list(options)
    common = {"format_func": options.__getitem__, "key": key, "help": help, "label_visibility": label_visibility}
    write = {"on_change": _write_link, "args": (key, first)}
    if style == "segmented":
        picked = st.segmented_control(label, ids, required=True, persist_state="session", **common, **write)  # type: ignore[call-overload]
    elif style == "radio":
        picked = st.radio(label, ids, horizontal=True, persist_state="session", **common, **write)  # type: ignore[call-overload]
    else:
        picked = st.selectbox(label, ids, persist_state="session", **common, **write)  # type: ignore[call-overload]
    return str(picked) if picked in options else str(first)


def linked(key: str, default: T, parse: Callable[[str], T]) -> T:
    """A value that no widget holds (a chosen head, say): from this session, or from the link.

    `parse` raises ValueError on text that makes no sense; the default is then shown, and it is said.
    """
    wanted = st.query_params.get(key)
    if _came_back(key) or (key in st.session_state and st.session_state.get(_seen(key)) == wanted):
        return cast(T, st.session_state[key])
    st.session_state[_seen(key)] = wanted
    value = default
    if wanted is not None:
        try:
            value = parse(wanted)
        except ValueError:
            note = _("The link's {name} “{wanted}” makes no sense here; {first} is shown.")
            st.caption(note.format(name=key, wanted=plain(wanted[:40]), first=plain(str(default))))
    st.session_state[key] = value
    return value


def set_linked(key: str, value: object, text: str | None) -> None:
    """Change a `linked` value; `text` is how the link says it, None leaves it out. Call it from callbacks."""
    st.session_state[key] = value
    if text is None:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = text
    st.session_state[_seen(key)] = text


def entering(page: str) -> bool:
    """Whether this run shows another page than the last one did. The main script calls it, once a run."""
    entered = st.session_state.get("_page") != page
    st.session_state["_page"], st.session_state["_entered"] = page, entered
    return entered


def came_back(key: str, name: str) -> bool:
    """Whether the visitor returns to a page that remembers `key`, by a menu that cleared `name` from the link."""
    return bool(st.session_state.get("_entered")) and key in st.session_state and name not in st.query_params


def _came_back(key: str) -> bool:
    """Returning to a page, its choices are as they were left, and the link says them again."""
    if not came_back(key, key):
        return False
    text = st.session_state.get(_seen(key))
    if text is not None:
        st.query_params[key] = text
    return True


def _seen(key: str) -> str:
    return f"_link_seen_{key}"


def _follow_link(label: str, options: Mapping[str, str], key: str, first: str) -> None:
    """Set the widget from the link when the link changed by another hand than the widget's."""
    wanted = st.query_params.get(key)
    if _came_back(key) or (key in st.session_state and st.session_state.get(_seen(key)) == wanted):
        if st.session_state[key] not in options:
            st.session_state[key] = first
        return
    st.session_state[_seen(key)] = wanted
    if wanted is not None and wanted not in options:
        st.caption(
            _("The link asks for {label} “{wanted}”, which there is not; {first} is shown.").format(
                label=plain(label), wanted=plain(wanted[:40]), first=plain(options[first])
            )
        )
    st.session_state[key] = wanted if wanted in options else first


def _write_link(key: str, first: str) -> None:
    value = st.session_state[key]
    if value == first:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = value
    st.session_state[_seen(key)] = st.query_params.get(key)
