"""What the explorer remembers between runs, and how the link says it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.explorer import Look, Stack
from attnviz.ui import canvas
from attnviz.ui.shared import came_back, choice, linked, links, plain, set_linked, show_problem
from attnviz.words import _

START = (13, 8)  # of SmolLM2: here "it" looks at what it stands for


def place(text: str) -> tuple[int, int]:
    """ "13.8" is layer 13, head 8."""
    match = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", text)
    if not match:
        raise ValueError(text)
    return int(match[1]), int(match[2])


def at(stack: Stack) -> tuple[int, int]:
    """The head on show: the one chosen or linked to, if this stack has it."""
    layer, head = linked("at", START, place)
    if layer < len(stack.layers) and head < stack.layers[layer].n_heads:
        return layer, head
    fallback = (min(layer, len(stack.layers) - 1), 0)
    fallback = (fallback[0], min(head, stack.layers[fallback[0]].n_heads - 1))
    if st.query_params.get("at"):
        st.caption(
            _(
                "There is no layer {layer} head {head} here: layers go from 0 to {last}. "
                "Layer {to_layer} head {to_head} is shown."
            ).format(layer=layer, head=head, last=len(stack.layers) - 1, to_layer=fallback[0], to_head=fallback[1])
        )
    return fallback


def go_to(layer: int, head: int) -> None:
    """Show another head, and say so in the link."""
    set_linked("at", (layer, head), None if (layer, head) == START else f"{layer}.{head}")


def look(pair: bool) -> Look:
    """The switches of the display, drawn where this is called; `pair`: there are two sentences to keep apart."""
    values = choice(
        _("Show"),
        {"weights": _("weights"), "values": _("weights × values")},
        "show",
        help=_("Weights say where a head looks; times the length of each value, how much it takes from there."),
    )
    units = choice(
        _("Tokens as"),
        {"pieces": _("pieces"), "words": _("whole words")},
        "units",
        help=_("Whole words: weights are summed over the pieces looked at, and averaged over the pieces that look."),
    )
    special = choice(
        _("Special tokens"),
        {"shown": _("shown"), "hidden": _("hidden"), "rest": _("hidden, rows sum to 1 again")},
        "special",
    )
    part = "all"
    if pair:
        parts = {
            "all": _("everything"),
            "first to second": _("first looks at second"),
            "second to first": _("second looks at first"),
            "first to first": _("first at itself"),
            "second to second": _("second at itself"),
        }
        part = choice(_("Sentences"), parts, "part", style="select")
    return Look(values, units, special == "shown", special == "rest", part)  # type: ignore[arg-type]


def options() -> dict[str, Any]:
    """How weights become colours, drawn where this is called."""
    scale = choice(
        _("Colours from 0 to"),
        {"one": _("1, the same for every head"), "own": _("this head's largest")},
        "colours",
    )
    curve = choice(_("Colour steps"), {"linear": _("even"), "root": _("square root")}, "curve")
    return {"full_range": scale == "one", "root": curve == "root"}


def kept_canvas() -> dict[str, Any]:
    """What the link holds of the canvas: pins, painted mask, hidden tokens, silenced heads. Read once a session."""
    if came_back("canvas", "c"):
        with suppress(Problem):
            links.write("c", st.session_state["canvas"] or None)
        st.session_state["canvas_link"] = st.query_params.get("c")
    if "canvas" not in st.session_state or st.session_state.get("canvas_link") != st.query_params.get("c"):
        st.session_state["canvas_link"] = st.query_params.get("c")
        try:
            value = links.read("c")
        except Problem as problem:
            show_problem(problem)
            value = None
        st.session_state["canvas"] = value if isinstance(value, dict) else {}
    kept: dict[str, Any] = st.session_state["canvas"]
    return kept


def keep_on_canvas(name: str, value: Any | None) -> None:
    """Put one thing of the canvas into the link, or take it out. Call it when a gesture has ended."""
    keep_all({name: value})


def keep_all(changed: dict[str, Any]) -> None:
    """The same for several things, in one step of the browser's history."""
    kept = {name: value for name, value in (kept_canvas() | changed).items() if value not in (None, [], "")}
    st.session_state["canvas"] = kept
    with suppress(Problem):  # what a link cannot hold is kept here, and can be saved as a file
        links.write("c", kept or None)
    st.session_state["canvas_link"] = st.query_params.get("c")


def picked(name: str, options: Sequence[Any]) -> list[Any]:
    """What the canvas part of the link holds under `name`, of that what there is here; the rest is said."""
    raw = kept_canvas().get(name)
    raw = raw if isinstance(raw, list) else []
    found = [option for option in options if option in raw]
    lost = [str(each)[:20] for each in raw if each not in found][:10]
    if lost:
        st.caption(_("Not here, and left out: {names}").format(names=plain(", ".join(lost))))
    return found


LAST = -1  # a pin on the last token, however many there are: what was appended may be cut into other pieces


def pins(n_rows: int, n_cols: int) -> canvas.Pins | None:
    """The pins that the link starts with, those that this picture has a place for."""
    raw = kept_canvas().get("pins")
    if not isinstance(raw, dict):
        return None
    size = {"q": n_rows, "k": n_cols}
    tokens = tuple(
        canvas.Pin(axis, size[axis] - 1 if index == LAST else index)
        for axis, index in (pair for pair in raw.get("t", []) if isinstance(pair, list) and len(pair) == 2)
        if axis in ("q", "k") and isinstance(index, int) and LAST <= index < size[axis]
    )
    return canvas.Pins(tokens, _cell(raw.get("c"), n_rows, n_cols))


def _cell(raw: Any, n_rows: int, n_cols: int) -> tuple[int, int] | None:
    """A cell that the picture has, or None."""
    if not isinstance(raw, list) or len(raw) != 2 or not all(isinstance(at, int) for at in raw):
        return None
    row, col = raw
    return (row, col) if 0 <= row < n_rows and 0 <= col < n_cols else None


def keep_pins(held: canvas.Pins) -> None:
    """Into the link with what is pinned; a cell clicked takes the stages with it."""
    said = {"t": [[pin.axis, pin.index] for pin in held.tokens]} | ({"c": list(held.cell)} if held.cell else {})
    keep_all({"pins": said if held else None, "stage": None})


def keep_stage(query: int, key: int | None) -> None:
    """Into the link with the query and the key whose arithmetic is on show (positions in the sentence)."""
    keep_on_canvas("stage", [query, key])


def stage(n_q: int, n_k: int) -> tuple[int, int | None] | None:
    """The query and key that were chosen in the stages, where this sentence has them."""
    raw = kept_canvas().get("stage")
    if not isinstance(raw, list) or len(raw) != 2 or not isinstance(raw[0], int) or not 0 <= raw[0] < n_q:
        return None
    return raw[0], raw[1] if isinstance(raw[1], int) and 0 <= raw[1] < n_k else None
