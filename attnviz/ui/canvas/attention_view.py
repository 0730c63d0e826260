"""All heads at once, and one head large: two components that share what is pointed at and pinned.

They are two so that choosing another head sends one head, not all of them again. A `group` joins
them (and any further head views) in the browser: hovered token, pins, chosen cell, zoom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from attnviz.ui.canvas import packing, wording
from attnviz.ui.canvas.mount import component

Axis = Literal["q", "k"]


@dataclass(frozen=True)
class Pin:
    """A token held fast: as a query (its row) or as a key (its column), by position."""

    axis: Axis
    index: int


@dataclass(frozen=True)
class Pins:
    """What a visitor holds: pinned tokens in the order they were pinned, and the last cell clicked (query, key)."""

    tokens: tuple[Pin, ...] = ()
    cell: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return bool(self.tokens) or self.cell is not None


@dataclass(frozen=True)
class Selection:
    """What `attention_view` answers: the head on show, and what is pinned in it."""

    layer: int
    head: int
    pins: Pins = field(default_factory=Pins)


@dataclass(frozen=True)
class Overview:
    """Thumbnails of all heads of one stack, layer by layer, and how to lay them out.

    thumbnails  uint8 (N, q, k) from `packing.thumbnails`, N = sum(heads)
    heads       query heads of each layer; kv_heads: key/value heads of each layer (equal: no brackets)
    measure     one number a head, (N,), for order, dimming and hover; `measure_name` in the visitor's language
    order       "place" = layers x heads; "measure" = largest first
    dim         True: the smaller its measure, the paler a tile
    layer_ids   what the layers are called, where not 0, 1, 2... (a stack's own numbers)
    root        colours on a square-root scale from 0 to 1 (small weights show), else linear
    """

    thumbnails: NDArray[np.uint8]
    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    measure: NDArray[np.floating] | None = None
    measure_name: str = ""
    order: Literal["place", "measure"] = "place"
    dim: bool = False
    layer_ids: tuple[int, ...] | None = None
    root: bool = True

    @classmethod
    def of(
        cls,
        layers: Iterable[NDArray[np.floating]],
        kv_heads: Sequence[int] | None = None,
        hidden: NDArray[np.bool_] | None = None,
        side: int = packing.THUMBNAIL_SIDE,
    ) -> Overview:
        """From the weights (H, Q, K) of each layer, taken one at a time; `hidden` (Q, K) True = masked, or NaN."""
        tiles = [packing.thumbnails(layer, hidden, side) for layer in layers]
        heads = tuple(len(tile) for tile in tiles)
        return cls(np.concatenate(tiles), heads, tuple(kv_heads) if kv_heads is not None else heads)

    def by(
        self, measure: NDArray[np.floating] | None, name: str = "", order: bool = False, dim: bool = False
    ) -> Overview:
        """The same tiles with a measure (N,) or (L, H): ordered and dimmed by it as asked, shown on hover."""
        values = None if measure is None else np.asarray(measure, np.float64).ravel()
        return replace(self, measure=values, measure_name=name, order="measure" if order else "place", dim=dim)

    @cached_property
    def packed(self) -> tuple[bytes, str]:
        """The compressed tiles and their fingerprint, made once."""
        data = packing.squeeze(np.ascontiguousarray(self.thumbnails).tobytes())
        return data, packing.fingerprint(data)


@dataclass(frozen=True)
class Head:
    """One matrix (Q, K) to draw large.

    values   NaN = masked, or `hidden` (boolean, True = masked)
    title    e.g. _("Layer 11, head 2"): drawn above, read aloud
    kind     "weights" 0 to 1; "values" 0 to the largest (value-weighted); "diff" and "scores": diverging, centred on 0
    layer, head  which tile of the overview this is, where it is one
    """

    values: NDArray[np.floating]
    title: str = ""
    hidden: NDArray[np.bool_] | None = None
    kind: Literal["weights", "values", "diff", "scores"] = "weights"
    layer: int | None = None
    head: int | None = None

    @property
    def signed(self) -> bool:
        """Whether the scale has two sides."""
        return self.kind in ("diff", "scores")

    @cached_property
    def largest(self) -> float:
        """The largest magnitude that can be seen."""
        seen = np.isfinite(self.values) if self.hidden is None else np.isfinite(self.values) & ~self.hidden
        return float(np.abs(np.where(seen, self.values, 0)).max(initial=0))


@dataclass(frozen=True)
class Options:
    """How a head is drawn.

    full_range   True: 0 to 1 for weights (-1 to 1 for differences), the same for every head; False: this matrix's own
    root         colours on a square-root scale instead of a linear one
    compact      heatmap only, small: for before, after and difference side by side in one `group`
    chips, lines show the sentence above; show the token lines beside (not in compact)
    segments_q, segments_k   first positions of later segments, drawn as separators
    unit         what a value is called in the colour bar and in sentences, e.g. _("weight")
    top          the end of the scale for several compact views that must compare; None = as full_range says
    """

    full_range: bool = True
    root: bool = False
    compact: bool = False
    chips: bool = True
    lines: bool = True
    segments_q: tuple[int, ...] = ()
    segments_k: tuple[int, ...] = ()
    unit: str = ""
    top: float | None = None


def overview_grid(
    key: str,
    overview: Overview,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    *,
    selected: tuple[int, int] = (0, 0),
    on_pick: Callable[[int, int], None] | None = None,
) -> tuple[int, int]:
    """Draw all heads; answer (layer, head), as places in the grid, of the one on show.

    With `on_pick` the caller owns the choice: it is called before the rerun and the caller passes
    the new `selected`. Without, the choice is kept here and `selected` is only where it starts.
    `tokens_k` = None means the queries' own. `key` is also the group of the head views below it.
    """
    kept, ack = f"{key}_kept_pick", f"{key}_ack"

    def picked() -> None:
        pick = _dict(_dict(st.session_state.get(key)).get("pick"))
        layer, head = _int(pick.get("layer")), _int(pick.get("head"))
        if layer is None or head is None or not (layer < len(overview.heads) and head < overview.heads[layer]):
            return
        st.session_state[ack] = _int(pick.get("seq")) or 0
        st.session_state[kept] = (layer, head)
        if on_pick is not None:
            on_pick(layer, head)

    component("overview")(key=key, data=_overview_blob(key, overview, tokens_q, tokens_k), on_pick_change=picked)
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
) -> Pins:
    """Draw one head large, its lines and its sentence; answer what is pinned in the group.

    `pins` is where pinning starts (from a link), and replaces what is pinned whenever the caller
    passes something new (`Pins()` clears). `on_pins` is called before the rerun, for a gesture in any
    view of the group. `tokens_k` = None: one sentence looks at itself, and a token lit in one
    place is lit in all. Views with the same `group` (the overview's key) light, pin and zoom together.
    """
    group, options = group or key, options or Options()
    document = packing.fingerprint(tuple(tokens_q), None if tokens_k is None else tuple(tokens_k))
    columns = tokens_q if tokens_k is None else tokens_k

    if on_pins is not None:
        st.session_state[f"{group}_on_pins"] = on_pins  # whichever view of the group a gesture happens in

    def pinned() -> None:
        st.session_state[f"{group}_pins"] = kept = _dict(_dict(st.session_state.get(key)).get("pins"))
        hear = st.session_state.get(f"{group}_on_pins")
        if hear is not None:
            hear(_pins(kept, document, len(tokens_q), len(columns)) or Pins())

    data = _head_blob(group, head, tokens_q, tokens_k, options, document, pins)
    component("head")(key=key, data=data, on_pins_change=pinned)
    return pinned_in(group, tokens_q, tokens_k, pins)


def pinned_in(
    group: str, tokens_q: Sequence[str], tokens_k: Sequence[str] | None = None, start: Pins | None = None
) -> Pins:
    """What is pinned in `group` just now, for these tokens: may be asked before anything is drawn."""
    document = packing.fingerprint(tuple(tokens_q), None if tokens_k is None else tuple(tokens_k))
    kept = _dict(st.session_state.get(f"{group}_pins"))
    n_k = len(tokens_q if tokens_k is None else tokens_k)
    other = start is not None and kept.get("start") != _pins_name(start)
    held = None if other else _pins(kept, document, len(tokens_q), n_k)
    return held if held is not None else start or Pins()


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


def _overview_blob(group: str, overview: Overview, tokens_q: Sequence[str], tokens_k: Sequence[str] | None) -> bytes:
    tiles, name = overview.packed
    measure = overview.measure
    header: dict[str, Any] = {
        "group": group,
        "data": name,
        "shape": list(overview.thumbnails.shape[1:]),
        "heads": list(overview.heads),
        "kv": list(overview.kv_heads),
        "layers": list(overview.layer_ids or range(len(overview.heads))),
        "measure": None if measure is None else [round(float(v), 4) if np.isfinite(v) else None for v in measure],
        "measureName": overview.measure_name,
        "order": overview.order,
        "dim": overview.dim,
        "q": [str(t) for t in tokens_q],
        "k": None if tokens_k is None else [str(t) for t in tokens_k],
        "scale": {"top": 1.0, "root": overview.root},
        "unit": wording.unit("weights"),
        "colours": wording.colours(),
        "words": wording.overview(),
    }
    return packing.blob(header, tiles)


def _head_blob(
    group: str,
    head: Head,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None,
    options: Options,
    document: str,
    pins: Pins | None,
) -> bytes:
    values = np.asarray(head.values)
    expected = (len(tokens_q), len(tokens_q if tokens_k is None else tokens_k))
    if values.shape != expected:
        raise ValueError(f"values of shape {values.shape} do not fit {expected[0]} queries and {expected[1]} keys")
    fixed = head.kind in ("weights", "diff")
    code_top = max(head.largest, 1.0 if fixed else 0.0) or 1.0
    shown_top = options.top or (1.0 if fixed and options.full_range else head.largest) or 1.0
    payload = packing.squeeze(packing.planes(packing.encode16(values, head.hidden, code_top, head.signed)), runs=True)
    header: dict[str, Any] = {
        "group": group,
        "doc": document,
        "data": packing.fingerprint(payload),
        "shape": list(values.shape),
        "signed": head.signed,
        "kind": head.kind,
        "top": code_top,
        "scale": {"top": shown_top, "root": options.root},
        "look": packing.fingerprint(options, head.kind),
        "title": head.title,
        "tile": None if head.layer is None else [head.layer, head.head],
        "ack": st.session_state.get(f"{group}_ack", 0),
        "q": [str(t) for t in tokens_q],
        "k": None if tokens_k is None else [str(t) for t in tokens_k],
        "compact": options.compact,
        "chips": options.chips and not options.compact,
        "lines": options.lines and not options.compact,
        "segments": [
            list(options.segments_q),
            list(options.segments_k or (options.segments_q if tokens_k is None else ())),
        ],
        "unit": options.unit or wording.unit(head.kind),
        "pins": None if pins is None else _plain_pins(pins),
        "start": _pins_name(pins),
        "heard": 0 if pins is None else _int(_dict(st.session_state.get(f"{group}_pins")).get("seq")) or 0,
        "colours": wording.colours(),
        "words": wording.head(),
    }
    return packing.blob(header, payload)


def _plain_pins(pins: Pins) -> dict[str, Any]:
    return {"tokens": [[p.axis, p.index] for p in pins.tokens], "cell": None if pins.cell is None else list(pins.cell)}


def _pins_name(pins: Pins | None) -> str:
    return "" if pins is None else packing.fingerprint(_plain_pins(pins))


def _pins(kept: dict[str, Any], document: str, n_q: int, n_k: int) -> Pins | None:
    """Pins as the browser reported them, None where they belong to other tokens; what does not fit is dropped."""
    if kept.get("doc") != document:
        return None
    size = {"q": n_q, "k": n_k}
    tokens = kept.get("tokens")
    pins = tuple(
        Pin(axis, index)
        for axis, index in (pair for pair in (tokens if isinstance(tokens, list) else []) if len(pair) == 2)
        if axis in size and isinstance(index, int) and 0 <= index < size[axis]
    )
    cell = kept.get("cell")
    fits = isinstance(cell, list) and len(cell) == 2 and 0 <= cell[0] < n_q and 0 <= cell[1] < n_k
    return Pins(pins, (cell[0], cell[1]) if fits and isinstance(cell, list) else None)


def _dict(value: Any) -> dict[str, Any]:
    return dict(value) if hasattr(value, "keys") else {}


def _int(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
