"""What a head view shows, as pictures for a file: made from the very records that the canvas is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.figures.svg_head import HeadPicture
from attnviz.figures.svg_lines import LinesPicture
from attnviz.live import canvas_wording
from attnviz.ui.canvas.kinds import Head, Options, Pins


def head_picture(
    head: Head,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    options: Options | None = None,
    pins: Pins | None = None,
    title: str | None = None,
) -> HeadPicture:
    """The matrix with what is pinned in it."""
    options, pins = options or Options(), pins or Pins()
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
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    options: Options | None = None,
    pins: Pins | None = None,
    title: str | None = None,
    others: Mapping[int, np.ndarray] | None = None,
) -> LinesPicture:
    """The token lines, those of pinned tokens in front; `others` are heads laid over it, NaN where masked."""
    options, pins = options or Options(), pins or Pins()
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
