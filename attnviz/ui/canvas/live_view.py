"""What a head view shows, as a live file: made from the very records that the canvas is drawn from."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.live import LiveView
from attnviz.packing import RawHead
from attnviz.ui.canvas.blobs import plain_arrangement, plain_edit, plain_sentence
from attnviz.ui.canvas.kinds import Head, HeadEdit, Options, Pins


def live_view(
    heads: Sequence[RawHead],
    counts: Sequence[int],
    kv_counts: Sequence[int],
    tokens: tuple[Sequence[str], Sequence[str] | None],
    shown: Head,
    axes: tuple[Sequence[str], Sequence[str] | None],
    options: Options,
    pins: Pins,
    edit: HeadEdit,
    *,
    title: str,
    note: str,
    link: str | None,
    over: Sequence[int] = (),
) -> LiveView:
    """All `heads`, or one, with `shown` open as it is now.

    `tokens` are the labels of the heads' own queries and keys, `axes` those of the rows and columns on show.
    """
    one = len(heads) == 1
    arranged = shown.raw is not None and (shown.raw.rows is not None or shown.raw.cols is not None)
    return LiveView(
        heads,
        counts,
        kv_counts,
        *tokens,
        (0, 0) if one else (shown.layer or 0, shown.head or 0),
        title,
        shown.title,
        shown.titles,
        note,
        link,
        [(pin.axis, pin.index) for pin in pins.tokens],
        pins.cell,
        plain_edit(edit),
        plain_sentence(shown),
        (options.segments_q, options.segments_k or (options.segments_q if axes[1] is None else ())),
        options.full_range,
        options.root,
        arranged=plain_arrangement(shown.raw) if arranged and shown.raw is not None else None,
        rows=axes[0] if arranged else None,
        cols=axes[1] if arranged else None,
        over=() if one else over,
    )
