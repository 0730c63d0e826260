"""One head that stands alone, as a live HTML file."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz import canvas
from attnviz.app import show
from attnviz.app.links import page_address
from attnviz.base.head_edit import HeadEdit
from attnviz.base.words import _, language, speaking
from attnviz.live import page


def alone(
    head: canvas.Head, tokens: Sequence[str], pins: canvas.Pins, edit: HeadEdit, title: str
) -> list[show.LiveFile]:
    """The same for a picture of one head that stands alone; nothing where it came without its scores."""
    if head.raw is None:
        return []
    raw, axes, spoken = head.raw.head, (tokens, None), language()
    link = page_address.public_address(page_address.LONGEST_IN_CAPTION)

    def this_head() -> str:
        more = {"title": title, "note": "", "link": link}
        with speaking(spoken):
            return page(
                canvas.live_view([raw], [1], [1], axes, head, axes, canvas.Options(), pins, edit, **more)  # type: ignore[arg-type]
            )

    return [show.LiveFile(_("Live HTML: this head"), "-live", this_head)]
