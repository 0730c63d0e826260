"""All heads at once, and one head large: two components that share what is pointed at and pinned.

They are two so that choosing another head sends one head, not all of them again. A `group` joins
them (and any further head views) in the browser: hovered token, pins, chosen cell, zoom.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from attnviz.base.head_edit import HeadEdit
from attnviz.canvas.head import ahead
from attnviz.canvas.shared.blobs import head_blob, overview_blob, pins_name, read_over, read_pins
from attnviz.canvas.shared.component import Gestures, answering, component
from attnviz.canvas.shared.kinds import AskedText, Head, HeadScene, Overview, Pins


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
        value = read[kind](gestures.hear(kind, key))
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
    pins = None if anew else read_pins(newest, scene)
    return pins if pins is not None else scene.pins or Pins()
