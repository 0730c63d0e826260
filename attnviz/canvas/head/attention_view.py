"""All heads at once, and one head large: two components that share what is pointed at and pinned; and as pictures.

They are two so that choosing another head sends one head, not all of them again. A `group` joins
them (and any further head views) in the browser: hovered token, pins, chosen cell, zoom. A picture for a file, and a
live one, are made from the very records that the canvas is drawn from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.canvas.head import ahead
from attnviz.canvas.shared.blobs import (
    head_blob,
    overview_blob,
    pins_name,
    plain_arrangement,
    plain_sentence,
    read_over,
    read_pins,
)
from attnviz.canvas.shared.component import Gestures, answering, component, read_report
from attnviz.canvas.shared.kinds import AskedText, Head, HeadScene, Overview, Pins
from attnviz.live import LiveView
from attnviz.live.matrix_figures import MatrixFigure
from attnviz.live.scene_figure import SceneFigure


def overview_grid(
    key: str,
    overview: Overview,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    *,
    selected: tuple[int, int],
    on_pick: Callable[[int, int], None],
    asked: AskedText | None = None,
) -> tuple[int, int]:
    """Draw all heads; answer (layer, head), as places in the grid, of the one on show: `selected`, if it is there.

    `on_pick` is called before the rerun. `tokens_k` = None means the queries' own. `key` is also the group of the head
    views below it. With `asked` the browser draws a text that was asked for before as soon as its key is pressed.
    """
    picked = partial(Gestures(key).pick, key, overview.heads, on_pick)
    data = overview_blob(key, overview, tokens_q, tokens_k, asked)
    component("overview")(key=key, data=data, on_pick_change=picked)
    layer = min(max(selected[0], 0), len(overview.heads) - 1)
    return layer, min(max(selected[1], 0), overview.heads[layer] - 1)


def head_view(key: str, head: Head, scene: HeadScene) -> Pins:
    """Draw one head large, its lines and its sentence; answer what is pinned in its group."""
    scene = scene if scene.group else replace(scene, group=key)
    gestures = Gestures(scene.group)
    read: dict[str, Callable[[dict[str, Any]], Any]] = {
        "pins": lambda pins: read_pins(pins, scene) or Pins(),
        "edit": HeadEdit.from_json,
        "over": read_over,
    }

    def happened(kind: str) -> None:
        value = read_report(read[kind], gestures.hear(kind, key))
        if value is not None:
            gestures.tell(kind, value)

    for kind, on_gesture in (("pins", scene.on_pins), ("edit", scene.on_edit), ("over", scene.on_over)):
        gestures.call(kind, on_gesture)
    echo = answering(gestures.number("pick")) | {
        "heard": 0 if scene.pins is None else gestures.number("pins"),
        "edits": gestures.number("edit"),
        "overs": gestures.number("over"),
    }
    address = None if scene.others is None else ahead.offer_head(key, scene.others, scene)
    callbacks = {f"on_{kind}_change": partial(happened, kind) for kind in read}
    component("head")(key=key, data=head_blob(head, scene, echo, address), **callbacks)
    newest = gestures.newest("pins")
    anew = scene.pins is not None and newest.get("start") != pins_name(scene.pins)
    pins = None if anew else read_report(partial(read_pins, scene=scene), newest)
    return pins if pins is not None else scene.pins or Pins()


def head_picture(head: Head, scene: HeadScene, pins: Pins | None = None, title: str | None = None) -> SceneFigure:
    """The matrix as a figure, with what is pinned in it."""
    return _figure(_matrix(head, scene, pins or Pins()), head, title)


def lines_picture(
    head: Head,
    scene: HeadScene,
    pins: Pins | None = None,
    title: str | None = None,
    others: Mapping[int, np.ndarray] | None = None,
) -> SceneFigure:
    """The token lines, those of pinned tokens in front; `others` are heads laid over it, NaN where masked."""
    matrix = _matrix(head, scene, pins or Pins())
    return _figure(replace(matrix, lines=True, head=head.head or 0, others=others or {}), head, title)


def _matrix(head: Head, scene: HeadScene, pins: Pins) -> MatrixFigure:
    options, values = scene.options, np.asarray(head.values)
    told = pins.tokens[-1] if options.story and pins.tokens else None
    return MatrixFigure(
        values if head.hidden is None else np.where(head.hidden, np.nan, values),
        scene.tokens_q,
        scene.keys,
        head.kind,
        options.full_range,
        options.root,
        [(pin.axis, pin.index) for pin in pins.tokens],
        pins.cell,
        scene.segments,
        unit=options.unit,
        top=options.top,
        told=None if told is None else (told.axis, told.index),
    )


def _figure(matrix: MatrixFigure, head: Head, title: str | None) -> SceneFigure:
    name = head.title if title is None else title
    return SceneFigure((replace(matrix, title=name),), name)


def opened_at(live: LiveView, shown: Head, scene: HeadScene, pins: Pins) -> LiveView:
    """The file with `shown` open as it is in its `scene` now, with what is pinned there."""
    one, raw = len(live.heads) == 1, shown.raw
    arranged = raw is not None and (raw.rows is not None or raw.cols is not None)
    return replace(
        live,
        at=(0, 0) if one else (shown.layer or 0, shown.head or 0),
        head_title=shown.title,
        titles=shown.titles,
        pins=[(pin.axis, pin.index) for pin in pins.tokens],
        cell=pins.cell,
        edit=scene.edit or NO_EDIT,
        sentence=plain_sentence(shown),
        segments=scene.segments,
        full_range=scene.options.full_range,
        root=scene.options.root,
        arranged=plain_arrangement(raw) if arranged and raw is not None else None,
        rows=scene.tokens_q if arranged else None,
        cols=scene.tokens_k if arranged else None,
        over=() if one else scene.over or (),
    )
