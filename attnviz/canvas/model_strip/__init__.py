"""Where the head on show sits in its model; a press on a block chooses its layer."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from attnviz.base.words import _
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.gestures import Gestures, count
from attnviz.canvas.shared.packing import blob
from attnviz.canvas.shared.registration import component
from attnviz.figures.svg_strip import StripPicture, StripWay


def model_strip(
    key: str, way: StripWay, *, at: tuple[int, int], group: str, on_pick: Callable[[int, int], None]
) -> None:
    """Draw the way of a token; a press is told to `on_pick` and, in the browser, to the views of `group` at once."""
    heads = way.heads
    kinds = list(dict.fromkeys(way.inside))
    told = [asdict(kind) for kind in kinds]
    drawn = {"before": [asdict(part) for part in way.before], "after": [asdict(part) for part in way.after]}
    middle = asdict(way.blocks) | {"of": [told[kinds.index(each)] for each in way.inside]}
    header: dict[str, Any] = drawn | {
        "group": group,
        "name": packing.fingerprint(drawn, middle),
        "at": list(at),
        "heads": list(heads),
        "blocks": middle,
        "words": {
            "blocks": _("Blocks: a press shows a head of that layer"),
            "layer": _("Layer {layer}"),
            "inside": _inside(),
            "heads": _("Heads of this layer: a press shows one"),
            "head": _("Head {head}"),
        },
    }

    def picked() -> None:
        pick = Gestures(group).hear("pick", key)
        layer, head = count(pick.get("layer")), count(pick.get("head"))
        if layer is not None and head is not None and layer < len(heads) and head < heads[layer]:
            on_pick(layer, head)

    component("model_strip")(key=key, data=blob(header), on_pick_change=picked)


def strip_picture(way: StripWay, at: tuple[int, int], title: str) -> StripPicture:
    """The same as a picture for a file."""
    layer, head = at
    return StripPicture(way, at, title, _inside().format(layer=layer, head=head))


def _inside() -> str:
    return _("Inside the block of layer {layer}; on show is head {head}")
