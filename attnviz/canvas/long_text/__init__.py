"""A long text with a head's attention: a pyramid of tiles that is zoomed, and the text itself, which glows."""

from collections.abc import Callable
from typing import Any

from attnviz.base.head_edit import read_edit
from attnviz.canvas.shared.component import count, mount_component
from attnviz.live.long_text_file import LongText, Span, TextState


def long_text(key: str, text: LongText, on_stand: Callable[[TextState], None]) -> None:
    """Draw a long text with the head of its state; `on_stand` receives the state that a visitor left."""
    n, heads = len(text.tokens), text.grid.heads

    def read_span(value: Any) -> Span | None:
        if not isinstance(value, list):
            return None
        start, stop = (count(at, n + 1) for at in value)
        return None if start is None or stop is None or start >= stop else (start, stop)

    def read_state(report: dict[str, Any]) -> TextState | None:
        layer, head = (count(at) for at in report["tile"])
        fits = report["doc"] == text.address and layer is not None and head is not None and layer < len(heads)
        if not fits or layer is None or head is None or head >= heads[layer] or report["unit"] not in text.units:
            return None
        spans = read_span(report["pinned"]), read_span(report["hidden"])
        return TextState((layer, head), report["unit"], *spans, read_edit(report["edit"]))

    mount_component("long_text", key, "stood", text.header, read_state, on_stand)
