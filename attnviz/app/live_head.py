"""One head that stands alone, as a live HTML file."""

from __future__ import annotations

from attnviz import canvas
from attnviz.app import show
from attnviz.app.links import page_address
from attnviz.base.words import _, language, speaking
from attnviz.live import page


def alone(head: canvas.Head, scene: canvas.HeadScene, pins: canvas.Pins, title: str) -> list[show.LiveFile]:
    """The same for a picture of one head that stands alone; nothing where it came without its scores."""
    if head.raw is None:
        return []
    heads, language_now = canvas.LiveHeads([head.raw.head], [1], [1], scene.tokens_q, scene.tokens_k), language()
    link = page_address.public_address(page_address.LONGEST_IN_CAPTION)

    def this_head() -> str:
        with speaking(language_now):
            return page(canvas.live_view(heads, head, scene, pins, title=title, link=link))

    return [show.LiveFile(_("Live HTML: this head"), "-live", this_head)]
