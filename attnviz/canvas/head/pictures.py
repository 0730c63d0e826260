"""What a head view shows, as pictures for a file: made from the very records that the canvas is drawn from."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from attnviz.base.head_edit import NO_EDIT
from attnviz.canvas.shared.blobs import plain_arrangement, plain_sentence
from attnviz.canvas.shared.kinds import Head, HeadScene, Pins
from attnviz.figures.svg_head import HeadPicture, LinesPicture
from attnviz.live import LiveView, canvas_wording


def head_picture(head: Head, scene: HeadScene, pins: Pins | None = None, title: str | None = None) -> HeadPicture:
    """The matrix with what is pinned in it."""
    options, pins = scene.options, pins or Pins()
    return HeadPicture(
        head.values,
        scene.tokens_q,
        scene.keys,
        head.hidden,
        head.kind,
        options.full_range,
        options.root,
        *_pinned(pins),
        pins.cell,
        scene.segments,
        head.title if title is None else title,
        options.unit or canvas_wording.unit(head.kind),
        options.top,
    )


def lines_picture(
    head: Head,
    scene: HeadScene,
    pins: Pins | None = None,
    title: str | None = None,
    others: Mapping[int, np.ndarray] | None = None,
) -> LinesPicture:
    """The token lines, those of pinned tokens in front; `others` are heads laid over it, NaN where masked."""
    values = np.asarray(head.values, np.float64)
    return LinesPicture(
        values if head.hidden is None else np.where(head.hidden, np.nan, values),
        scene.tokens_q,
        scene.keys,
        *_pinned(pins or Pins()),
        head.title if title is None else title,
        scene.options.top_of(head),
        scene.options.root,
        head.signed,
        head.head or 0,
        others or {},
    )


def _pinned(pins: Pins) -> tuple[list[int], list[int]]:
    rows, cols = ([pin.index for pin in pins.tokens if pin.axis == axis] for axis in ("q", "k"))
    return rows, cols


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
