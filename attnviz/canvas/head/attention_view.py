"""All heads at once, and one head large: two components that share what is pointed at and pinned; and as pictures.

They are two so that choosing another head sends one head, not all of them again. A `group` joins
them (and any further head views) in the browser: hovered token, pins, chosen cell, zoom. A picture for a file is
made from the very records that the canvas is drawn from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.base.head_edit import NO_EDIT, HeadEdit, read_edit
from attnviz.base.head_record import HeadChannel, HeadData, HeadView, Pins
from attnviz.canvas.head import ahead
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.blobs import Overview, RequestedText, head_blob, overview_blob, read_over, read_pins
from attnviz.canvas.shared.component import Gestures, acknowledgement, get_component, read_report
from attnviz.live.head_header import head_header, name_pins
from attnviz.live.matrix_figures import HeadFigure, HeadFilm
from attnviz.live.scene_figure import SceneFigure
from attnviz.rooms.projector import StrongestKeys

MOST_KEYS, FAINTEST = 8, 0.005  #: of a row on a phone: how many, and the least weight


def overview_grid(
    key: str,
    overview: Overview,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    *,
    selected: tuple[int, int],
    on_pick: Callable[[int, int], None],
    requested: RequestedText | None = None,
) -> tuple[int, int]:
    """Draw all heads; answer (layer, head), as places in the grid, of the one on show: `selected`, if it is there.

    `on_pick` is called before the rerun. `tokens_k` = None means the queries' own. `key` is also the group of the head
    views below it. With `asked` the browser draws a text that was asked for before as soon as its key is pressed.
    """
    picked = partial(Gestures(key).pick, key, overview.grid.heads, on_pick)
    data = overview_blob(key, overview, tokens_q, tokens_k, requested)
    get_component("overview")(key=key, data=data, on_pick_change=picked)
    layer = min(max(selected[0], 0), len(overview.grid.heads) - 1)
    return layer, min(max(selected[1], 0), overview.grid.heads[layer] - 1)


def head_view(
    key: str,
    data: HeadData,
    view: HeadView,
    edit: HeadEdit | None = None,
    *,
    group: str = "",
    others: Callable[[int, int], tuple[HeadData, HeadView]] | None = None,
    every: str | None = None,
    edited_tiles: str | None = None,
    on_pins: Callable[[Pins], None] | None = None,
    on_edit: Callable[[HeadEdit], None] | None = None,
    on_over: Callable[[tuple[int, ...]], None] | None = None,
    on_why: Callable[[], None] | None = None,
    displayed: NDArray[np.floating] | None = None,
) -> Pins:
    """Draw one head large, its lines and its sentence; answer what is pinned in its group.

    `edit` is where the controls of mask and scale start; None: the view has none. Views of one `group` (the overview's
    key; "": the view's own) light, pin and zoom together, and the listeners `on_...` are called before the rerun for a
    gesture in any of them. `others` computes any head of the overview, `every` and `edited_tiles` are addresses from
    `ahead` with all heads and with the overview's tiles under the edit: the browser fetches these by itself.
    `on_why` is called where a visitor asks why the unfolded cell has its weight; None: nobody can.
    `displayed`: the values (Q, K) under the edit, NaN where masked, of data that is exact.
    """
    group = group or key
    gestures, labels = Gestures(group), view.labels(data)
    read: dict[str, Callable[[dict[str, Any]], Any]] = {
        "pins": lambda pins: read_pins(pins, *labels) or Pins(),
        "edit": read_edit,
        "over": read_over,
    }

    def handle_gesture(kind: str) -> None:
        value = read_report(read[kind], gestures.receive(kind, key))
        if value is not None:
            gestures.notify(kind, value)

    for kind, on_gesture in (("pins", on_pins), ("edit", on_edit), ("over", on_over)):
        gestures.listen(kind, on_gesture)
    channel = HeadChannel(
        group,
        **acknowledgement(gestures.number("pick")),
        heard=0 if view.pins is None else gestures.number("pins"),
        edits=gestures.number("edit"),
        overs=gestures.number("over"),
        every=every,
        ahead=None if others is None else ahead.offer_head(key, others, HeadChannel(group, every=every)),
        edited_tiles=edited_tiles,
        why=on_why is not None,
    )
    callbacks: dict[str, Callable[[], None]] = {f"on_{kind}_change": partial(handle_gesture, kind) for kind in read}
    if on_why is not None:
        callbacks["on_why_change"] = on_why
    newest = gestures.newest("pins")
    anew = view.pins is not None and newest.get("start") != name_pins(view.pins)
    reported = None if anew else read_report(lambda pins: read_pins(pins, *labels), newest)
    pins = reported if reported is not None else view.pins or Pins()
    values = displayed if data.exact else data.plain
    row = None if values is None else partial(_strongest_keys, values, view, labels, view.row_of(pins))
    get_component("head")(key=key, data=head_blob(data, view, edit, channel), row=row, **callbacks)
    return pins


def _strongest_keys(
    values: NDArray[np.floating], view: HeadView, labels: tuple[list[str], list[str] | None], row: int | None
) -> StrongestKeys | None:
    """The described row's strongest keys, for phones; None where there is no such row of weights."""
    if row is None or view.kind != "weights":
        return None
    queries, keys = labels[0], labels[1] or labels[0]
    weights = np.nan_to_num(values[row])
    order = [int(key) for key in np.argsort(-weights, kind="stable")[:MOST_KEYS] if weights[key] >= FAINTEST]
    return StrongestKeys(queries[row], [(keys[key], round(float(weights[key]), 4)) for key in order])


def head_picture(
    data: HeadData,
    view: HeadView,
    pins: Pins | None = None,
    title: str | None = None,
    *,
    computed: HeadData | None = None,
    edit: HeadEdit = NO_EDIT,
) -> SceneFigure:
    """The matrix as a figure, with what is pinned in it; its film is of the row on show.

    `computed`: the scores that its canvas computes these values from, under `edit`; one that has none that are exact
    reads values from the codes that it is sent.
    """
    top, sent, film = head_header(data, view)["top"], None, None
    if computed is None or not computed.exact:
        sent = packing.decode16(packing.encode16(data.scores, ~data.mask, top, view.signed), top, view.signed)
    elif view.kind == "weights" and view.arrangement is None and (row := view.row_of(pins or Pins())) is not None:
        film = HeadFilm(computed, row, NO_EDIT if edit.seen == "before" else edit, view.title)
    return replace(_scene_figure(HeadFigure(data, view, sent=sent), pins, title), film=film)


def lines_picture(
    data: HeadData,
    view: HeadView,
    pins: Pins | None = None,
    title: str | None = None,
    others: Mapping[int, np.ndarray] | None = None,
) -> SceneFigure:
    """The token lines, those of pinned tokens in front; `others` are heads laid over it, NaN where masked."""
    return _scene_figure(HeadFigure(data, view, lines=True, others=others or {}), pins, title)


def _scene_figure(figure: HeadFigure, pins: Pins | None, title: str | None) -> SceneFigure:
    name = figure.view.title if title is None else title
    return SceneFigure((replace(figure, view=replace(figure.view, title=name, pins=pins)),), name)
