"""This very view for somebody else: as a link, or as a file where a link is too short for what is painted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from attnviz.core.message import Problem
from attnviz.ui.explorer import explorer_state
from attnviz.ui.shared import links, set_linked, show_problem
from attnviz.words import _

FORMAT = "attnviz-view-1"
LARGEST = 1_000_000  # characters of a view file
#: bound widgets and how their text in a link is read; everything else in the link is a choice
BOUND: dict[str, Callable[[str], Any]] = {
    "text": str,
    "second": str,
    "other_text": str,
    "hub_id": str,
    "window": int,
    "topk": int,
    "factor": float,
    "temperature": float,
    "rollout_to": int,
    "again": lambda text: text.lower() == "true",
}
TYPED = {"beside_head", "beside_sentence", "beside_model", "mean_of"}  # held by the link as text
CHOICES = {
    "model", "stack", "by", "frame", "show", "units", "special", "colours", "curve", "mask", "scale", "where",
    "combine", "beside", "other_model", "part",
}  # fmt: skip


def menu() -> None:
    """Link, file, and opening a file."""
    with st.popover(_("Share"), icon=":material/link:", type="tertiary"):
        url = st.context.url
        st.caption(_("The link in the address bar reopens this view: sentence, head, pins and changes."))
        if url and not fits_a_link():
            st.warning(_("What is painted does not fit into a link. Save the view as a file instead."))
        st.download_button(
            _("Save this view as a file"),
            data=saved,
            file_name="attention-view.json",
            mime="application/json",
            on_click="ignore",
            key="save-view",
        )
        st.file_uploader(_("Open a saved view"), type="json", key="view-file", on_change=_open_uploaded)
        if "view-problem" in st.session_state:
            show_problem(st.session_state.pop("view-problem"))


def fits_a_link() -> bool:
    """Whether the canvas part is short enough."""
    try:
        links.pack(explorer_state.kept_canvas())
    except Problem:
        return False
    return True


def saved() -> str:
    """The view as JSON text."""
    link = {name: st.query_params[name] for name in st.query_params if name != "c"}
    link |= {name: str(st.session_state[name]) for name in ("text", "second") if st.session_state.get(name)}
    return json.dumps(
        {"format": FORMAT, "link": link, "canvas": explorer_state.kept_canvas()}, ensure_ascii=False, indent=1
    )


def parsed(text: str) -> tuple[dict[str, str], dict[str, Any]]:
    """What a view file says. Problem when it is not one."""
    try:
        view = json.loads(text[:LARGEST])
    except ValueError:
        raise Problem("This file is not a saved view: it is no JSON, or was cut short.") from None
    if not isinstance(view, dict) or view.get("format") != FORMAT:
        raise Problem("This file is not a saved view of this version ({version}).", version=FORMAT)
    link, canvas = view.get("link"), view.get("canvas")
    if not isinstance(link, dict) or not isinstance(canvas, dict):
        raise Problem("This saved view is damaged: its link or its canvas is missing.")
    return {str(name): str(value) for name, value in link.items()}, canvas


def _open_uploaded() -> None:
    uploaded = st.session_state.get("view-file")
    if uploaded is None:
        return
    try:
        link, canvas = parsed(uploaded.getvalue().decode("utf-8", "replace"))
        restore(link, canvas)
    except Problem as problem:
        st.session_state["view-problem"] = problem


def restore(link: dict[str, str], canvas: dict[str, Any]) -> None:
    """Set every widget and the canvas as the view says; what makes no sense is left as it is."""
    for name, text in link.items():
        if name in CHOICES:
            set_linked(name, text, text)
        elif name == "at":
            try:
                explorer_state.go_to(*explorer_state.place(text))
            except ValueError:
                continue
        elif name in TYPED:
            set_linked(name, text, text)
        elif name in BOUND:
            try:
                st.session_state[name] = BOUND[name](text)
            except ValueError:
                continue
    explorer_state.keep_all({name: canvas.get(name) for name in ("pins", "mask", "hide", "quiet", "stage")})
