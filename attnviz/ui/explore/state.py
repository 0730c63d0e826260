"""What the explorer remembers between runs, and how the link says it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.explorer.heads import Look
from attnviz.experiments.explorer.reading import Stack
from attnviz.ui import canvas, links
from attnviz.ui.controls import came_back, choice, linked, set_linked
from attnviz.ui.guard import show_problem
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
    kept = dict(kept_canvas())
    if value is None or value == [] or value == "":
        kept.pop(name, None)
    else:
        kept[name] = value
    st.session_state["canvas"] = kept
    with suppress(Problem):  # what a link cannot hold is kept here, and can be saved as a file
        links.write("c", kept or None)
    st.session_state["canvas_link"] = st.query_params.get("c")


def pins() -> canvas.Pins | None:
    """The pins that the link starts with."""
    raw = kept_canvas().get("pins")
    if not isinstance(raw, dict):
        return None
    tokens = tuple(
        canvas.Pin(axis, index)
        for axis, index in (pair for pair in raw.get("t", []) if isinstance(pair, list) and len(pair) == 2)
        if axis in ("q", "k") and isinstance(index, int)
    )
    cell = raw.get("c")
    return canvas.Pins(tokens, (int(cell[0]), int(cell[1])) if isinstance(cell, list) and len(cell) == 2 else None)


def keep_pins(held: canvas.Pins) -> None:
    """Into the link with what is pinned."""
    if not held:
        keep_on_canvas("pins", None)
        return
    keep_on_canvas(
        "pins",
        {"t": [[pin.axis, pin.index] for pin in held.tokens]} | ({"c": list(held.cell)} if held.cell else {}),
    )
