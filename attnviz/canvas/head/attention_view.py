"""All heads at once, and one head large: two components that share what is pointed at and pinned.

They are two so that choosing another head sends one head, not all of them again. A `group` joins
them (and any further head views) in the browser: hovered token, pins, chosen cell, zoom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.base.head_edit import HeadEdit
from attnviz.canvas.head import ahead
from attnviz.canvas.shared.blobs import (
    count,
    document,
    head_blob,
    mapping,
    overview_blob,
    pins_name,
    read_over,
    read_pins,
)
from attnviz.canvas.shared.kinds import AskedText, Head, Options, Overview, Pins, Selection
from attnviz.canvas.shared.registration import answering, component


def overview_grid(
    key: str,
    overview: Overview,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    *,
    selected: tuple[int, int] = (0, 0),
    on_pick: Callable[[int, int], None] | None = None,
    asked: AskedText | None = None,
) -> tuple[int, int]:
    """Draw all heads; answer (layer, head), as places in the grid, of the one on show.

    With `on_pick` the caller owns the choice: it is called before the rerun and the caller passes
    the new `selected`. Without, the choice is kept here and `selected` is only where it starts.
    `tokens_k` = None means the queries' own. `key` is also the group of the head views below it.
    With `asked` the browser draws a text that was asked for before as soon as its key is pressed.
    """
    kept, ack = f"{key}_kept_pick", f"{key}_ack"

    def picked() -> None:
        pick = mapping(mapping(st.session_state.get(key)).get("pick"))
        layer, head = count(pick.get("layer")), count(pick.get("head"))
        st.session_state[ack] = count(pick.get("seq")) or 0
        if layer is None or head is None or not (layer < len(overview.heads) and head < overview.heads[layer]):
            return
        st.session_state[kept] = (layer, head)
        if on_pick is not None:
            on_pick(layer, head)

    data = overview_blob(key, overview, tokens_q, tokens_k, asked)
    component("overview")(key=key, data=data, on_pick_change=picked)
    layer, head = selected if on_pick is not None else st.session_state.get(kept, selected)
    layer = min(max(layer, 0), len(overview.heads) - 1)
    return layer, min(max(head, 0), overview.heads[layer] - 1)


def head_view(
    key: str,
    head: Head,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    *,
    options: Options | None = None,
    pins: Pins | None = None,
    group: str | None = None,
    on_pins: Callable[[Pins], None] | None = None,
    others: Callable[[int, int], Head] | None = None,
    every: str | None = None,
    edit: HeadEdit | None = None,
    on_edit: Callable[[HeadEdit], None] | None = None,
    over: Sequence[int] | None = None,
    on_over: Callable[[tuple[int, ...]], None] | None = None,
    edited_tiles: str | None = None,
) -> Pins:
    """Draw one head large, its lines and its sentence; answer what is pinned in the group.

    `pins` is where pinning starts (from a link), and replaces what is pinned whenever the caller
    passes something new (`Pins()` clears). `on_pins` is called before the rerun, for a gesture in any
    view of the group. `tokens_k` = None: one sentence looks at itself, and a token lit in one
    place is lit in all. Views with the same `group` (the overview's key) light, pin and zoom together.
    `others(layer, head)` computes any head of the overview: the browser then fetches the one that is
    pointed at by itself, see `ahead`; it must hold no tensors and raise LookupError when they are gone.
    `every` is an address of `sentence_heads`, which the browser fetches once the first picture stands.
    With `edit` the view has controls of mask and scale, which start there; `on_edit` is called before the rerun, when
    the hand lets go. With `over`, heads of this layer whose lines are laid over its own, it has the squares that choose
    them; `on_over` is called before the rerun. `edited_tiles` is an address of `sentence_heads` with the tiles
    of the overview under the edit, for sentences whose heads are too many for `every`.
    """
    group = group or key
    options = options or Options()
    if on_pins is not None:
        st.session_state[f"{group}_on_pins"] = on_pins  # whichever view of the group a gesture happens in

    def pinned() -> None:
        st.session_state[f"{group}_pins"] = kept = mapping(mapping(st.session_state.get(key)).get("pins"))
        hear = st.session_state.get(f"{group}_on_pins")
        if hear is not None:
            hear(_held(kept, tokens_q, tokens_k) or Pins())

    def edited() -> None:
        st.session_state[f"{group}_edit"] = kept = mapping(mapping(st.session_state.get(key)).get("edit"))
        found = HeadEdit.from_json(kept)
        if found is not None and on_edit is not None:
            on_edit(found)

    def laid_over() -> None:
        st.session_state[f"{group}_over"] = kept = mapping(mapping(st.session_state.get(key)).get("over"))
        found = read_over(kept)
        if found is not None and on_over is not None:
            on_over(found)

    heard = count(mapping(st.session_state.get(f"{group}_pins")).get("seq")) or 0
    edits = count(mapping(st.session_state.get(f"{group}_edit")).get("seq")) or 0
    overs = count(mapping(st.session_state.get(f"{group}_over")).get("seq")) or 0
    told = {"heard": 0 if pins is None else heard, "edits": edits, "overs": overs}
    echo = answering(st.session_state.get(f"{group}_ack")) | told
    address = None if others is None else ahead.offer(key, others, group, tokens_q, tokens_k, options, every, over)
    data = head_blob(group, head, tokens_q, tokens_k, options, pins, echo, address, every, edit, over, edited_tiles)
    component("head")(key=key, data=data, on_pins_change=pinned, on_edit_change=edited, on_over_change=laid_over)
    return pinned_in(group, tokens_q, tokens_k, pins)


def pinned_in(
    group: str, tokens_q: Sequence[str], tokens_k: Sequence[str] | None = None, start: Pins | None = None
) -> Pins:
    """What is pinned in `group` just now, for these tokens: may be asked before anything is drawn."""
    kept = mapping(st.session_state.get(f"{group}_pins"))
    other = start is not None and kept.get("start") != pins_name(start)
    held = None if other else _held(kept, tokens_q, tokens_k)
    return held if held is not None else start or Pins()


def _held(kept: dict[str, Any], tokens_q: Sequence[str], tokens_k: Sequence[str] | None) -> Pins | None:
    n_k = len(tokens_q if tokens_k is None else tokens_k)
    return read_pins(kept, document(tokens_q, tokens_k), len(tokens_q), n_k)


def attention_view(
    key: str,
    overview: Overview,
    head: Callable[[int, int], Head],
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    *,
    options: Options | None = None,
    selected: tuple[int, int] = (0, 0),
    pins: Pins | None = None,
    on_pick: Callable[[int, int], None] | None = None,
    on_pins: Callable[[Pins], None] | None = None,
) -> Selection:
    """Overview, and below it the head that is on show: `head(layer, head)` computes the one asked for.

    Put it in a fragment, so that choosing a head runs nothing else.
    """
    layer, number = overview_grid(key, overview, tokens_q, tokens_k, selected=selected, on_pick=on_pick)
    chosen = replace(head(layer, number), layer=layer, head=number)
    held = head_view(f"{key}_head", chosen, tokens_q, tokens_k, options=options, pins=pins, group=key, on_pins=on_pins)
    return Selection(layer, number, held)
