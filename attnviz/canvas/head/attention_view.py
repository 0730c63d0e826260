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
from attnviz.canvas.shared.blobs import document, head_blob, overview_blob, pins_name, read_over, read_pins
from attnviz.canvas.shared.gestures import Gestures, answering, count
from attnviz.canvas.shared.kinds import AskedText, Head, HeadScene, Overview, Pins
from attnviz.canvas.shared.registration import component


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

    def picked() -> None:
        pick = Gestures(key).hear("pick", key)
        layer, head = count(pick.get("layer")), count(pick.get("head"))
        if layer is not None and head is not None and layer < len(overview.heads) and head < overview.heads[layer]:
            on_pick(layer, head)

    data = overview_blob(key, overview, tokens_q, tokens_k, asked)
    component("overview")(key=key, data=data, on_pick_change=picked)
    layer = min(max(selected[0], 0), len(overview.heads) - 1)
    return layer, min(max(selected[1], 0), overview.heads[layer] - 1)


def head_view(key: str, head: Head, scene: HeadScene) -> Pins:
    """Draw one head large, its lines and its sentence; answer what is pinned in its group."""
    scene = scene if scene.group else replace(scene, group=key)
    gestures = Gestures(scene.group)
    read: dict[str, Callable[[dict[str, Any]], Any]] = {
        "pins": lambda pins: _read_pins(pins, scene) or Pins(),
        "edit": HeadEdit.from_json,
        "over": read_over,
    }

    def happened(kind: str) -> None:
        value = read[kind](gestures.hear(kind, key))
        if value is not None:
            gestures.tell(kind, value)

    gestures.call("pins", scene.on_pins)
    gestures.call("edit", scene.on_edit)
    gestures.call("over", scene.on_over)
    echo = answering(gestures.number("pick")) | {
        "heard": 0 if scene.pins is None else gestures.number("pins"),
        "edits": gestures.number("edit"),
        "overs": gestures.number("over"),
    }
    address = None if scene.others is None else ahead.offer(key, scene.others, scene)
    callbacks = {f"on_{kind}_change": partial(happened, kind) for kind in read}
    component("head")(key=key, data=head_blob(head, scene, echo, address), **callbacks)
    newest = gestures.newest("pins")
    anew = scene.pins is not None and newest.get("start") != pins_name(scene.pins)
    pins = None if anew else _read_pins(newest, scene)
    return pins if pins is not None else scene.pins or Pins()


def _read_pins(pins: dict[str, Any], scene: HeadScene) -> Pins | None:
    """Pins as the browser reported them; None where they belong to other tokens."""
    n_k = len(scene.tokens_q if scene.tokens_k is None else scene.tokens_k)
    return read_pins(pins, document(scene.tokens_q, scene.tokens_k), len(scene.tokens_q), n_k)
