"""Where the visitor stands on the walk, and the weights typed by hand: kept in the session and in the link."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.building import attention_by_hand, inputs
from attnviz.ui.shared import linked, links, set_linked

LINK, STEP = "b_at", "b_step"
STRIP = "build_strip"  #: the strip's key: its state dies when the visitor leaves the page
_KEPT, _SEEN = "_build_place", "_build_seen"
MOST_EDITS = 800  # every cell of the largest matrices


@dataclass(frozen=True)
class Place:
    """The chosen number (part, row, col), head and sentence, and the edits."""

    part: int = 0
    row: int = 1
    col: int = 0
    head: int = 0
    sentence: int = 0
    edits: tuple[inputs.CellEdit, ...] = ()
    version: int = 0  #: grows when the edits come from outside the editor, which then starts anew


def read() -> Place:
    """From this session, or from the link when that was changed by another hand."""
    text = st.query_params.get(LINK)
    if _KEPT in st.session_state and st.session_state.get(_SEEN) == text:
        return cast(Place, st.session_state[_KEPT])
    if text is None and _KEPT in st.session_state and STRIP not in st.session_state:
        change(version=st.session_state[_KEPT].version + 1)  # back from another page: nothing typed is lost
        return cast(Place, st.session_state[_KEPT])
    version = st.session_state[_KEPT].version + 1 if _KEPT in st.session_state else 0
    st.session_state[_SEEN] = text
    st.session_state[_KEPT] = Place(version=version)
    if text:
        st.session_state[_KEPT] = replace(_parsed(links.unpack(text)), version=version)
    return cast(Place, st.session_state[_KEPT])


def change(**changes: Any) -> None:
    """Move, or edit: call it from callbacks. A Problem when the edits do not fit into the link."""
    place = replace(st.session_state.get(_KEPT, Place()), **changes)
    st.session_state[_KEPT] = place
    said = asdict(place)
    del said["version"]
    brief = {name[0]: value for name, value in said.items() if value != getattr(Place, name)}
    links.write(LINK, brief or None)
    st.session_state[_SEEN] = st.query_params.get(LINK)


def _parsed(value: Any) -> Place:
    """The link is from anyone: what makes no sense in it is refused."""
    try:
        numbers = {name: int(value.get(name[0], getattr(Place, name))) for name in ("part", "row", "col", "head")}
        numbers["sentence"] = int(value.get("s", 0))
        edits = tuple((str(m), int(r), int(c), float(v)) for m, r, c, v in value.get("e", ())[:MOST_EDITS])
    except (AttributeError, TypeError, ValueError) as cause:
        raise Problem("The link's chosen cell and edited weights cannot be read.") from cause
    if min(numbers.values()) < 0 or any(m not in inputs.MATRICES or not abs(v) <= 100 for m, _r, _c, v in edits):
        raise Problem("The link's chosen cell and edited weights cannot be read.")
    return Place(**numbers, edits=edits)


def step(ids: tuple[str, ...]) -> str:
    """The step stood on: the one asked for, or the nearest that this configuration has."""

    def parse(text: str) -> str:
        if text not in ids:
            raise ValueError(text)
        return text

    chosen = linked(STEP, "scores", parse)
    return chosen if chosen in ids else "scores"


def walk_to(wanted: str) -> None:
    """Another step: from callbacks."""
    set_linked(STEP, wanted, None if wanted == "scores" else wanted)


def head(result: attention_by_hand.Result) -> int:
    """The query head on show."""
    return min(read().head, result.config.n_heads - 1)


def sentence(result: attention_by_hand.Result) -> int:
    """The sentence of the batch on show."""
    return min(read().sentence, result.config.batch - 1)
