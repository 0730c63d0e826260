"""What a head view shows, as pictures for a file: made from the very records that the canvas is drawn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.base.head_edit import NO_EDIT
from attnviz.base.raw_scores import RawHead
from attnviz.canvas.shared.blobs import plain_arrangement, plain_sentence
from attnviz.canvas.shared.kinds import Head, HeadScene, Pins
from attnviz.figures.svg_head import HeadPicture, LinesPicture
from attnviz.live import LiveView, canvas_wording


def head_picture(head: Head, scene: HeadScene, pins: Pins | None = None, title: str | None = None) -> HeadPicture:
    """The matrix with what is pinned in it."""
    tokens_q, tokens_k, options, pins = scene.tokens_q, scene.tokens_k, scene.options, pins or Pins()
    return HeadPicture(
        head.values,
        tokens_q,
        tokens_q if tokens_k is None else tokens_k,
        head.hidden,
        head.kind,
        options.full_range,
        options.root,
        *_pinned(pins),
        pins.cell,
        (options.segments_q, options.segments_k or (options.segments_q if tokens_k is None else ())),
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
    tokens_q, tokens_k, options, pins = scene.tokens_q, scene.tokens_k, scene.options, pins or Pins()
    values = np.asarray(head.values, np.float64)
    fixed = head.kind in ("weights", "diff") and options.full_range
    return LinesPicture(
        values if head.hidden is None else np.where(head.hidden, np.nan, values),
        tokens_q,
        tokens_q if tokens_k is None else tokens_k,
        *_pinned(pins),
        head.title if title is None else title,
        options.top or (1.0 if fixed else head.largest) or 1.0,
        options.root,
        head.signed,
        head.head or 0,
        others or {},
    )


def _pinned(pins: Pins) -> tuple[list[int], list[int]]:
    rows = [pin.index for pin in pins.tokens if pin.axis == "q"]
    return rows, [pin.index for pin in pins.tokens if pin.axis == "k"]


@dataclass(frozen=True)
class LiveHeads:
    """The heads in a live file, layer by layer, or one alone; the labels are those of the heads' own tokens."""

    heads: Sequence[RawHead]
    counts: Sequence[int]  #: of each layer
    kv_counts: Sequence[int]
    tokens_q: Sequence[str]
    tokens_k: Sequence[str] | None = None


def live_view(
    live: LiveHeads, shown: Head, scene: HeadScene, pins: Pins, *, title: str, note: str = "", link: str | None = None
) -> LiveView:
    """These heads with `shown` open as it is in its `scene` now, with what is pinned there."""
    one, options = len(live.heads) == 1, scene.options
    arranged = shown.raw is not None and (shown.raw.rows is not None or shown.raw.cols is not None)
    return LiveView(
        live.heads,
        live.counts,
        live.kv_counts,
        live.tokens_q,
        live.tokens_k,
        (0, 0) if one else (shown.layer or 0, shown.head or 0),
        title,
        shown.title,
        shown.titles,
        note,
        link,
        [(pin.axis, pin.index) for pin in pins.tokens],
        pins.cell,
        scene.edit or NO_EDIT,
        plain_sentence(shown),
        (options.segments_q, options.segments_k or (options.segments_q if scene.tokens_k is None else ())),
        options.full_range,
        options.root,
        arranged=plain_arrangement(shown.raw) if arranged and shown.raw is not None else None,
        rows=scene.tokens_q if arranged else None,
        cols=scene.tokens_k if arranged else None,
        over=() if one else scene.over or (),
    )
