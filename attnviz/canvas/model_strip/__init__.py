"""Where the head on show sits in its model: a press on a block chooses its layer; a file shows the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from attnviz.base.record_json import to_json
from attnviz.base.words import _
from attnviz.canvas.shared.component import Gestures, get_component
from attnviz.canvas.shared.packing import fingerprint, pack_blob
from attnviz.figures.theme import K_VERMILION, Q_BLUE


@dataclass(frozen=True)
class StripPart:
    """A part of a model: its title, lines about it, and its share of the parameters with a label (None: no share)."""

    title: str
    lines: Sequence[str] = ()
    share: float | None = None
    share_label: str = ""


@dataclass(frozen=True)
class StripBlock:
    """The components of one layer's block."""

    attention: StripPart
    mlp: StripPart
    norms: StripPart


@dataclass(frozen=True)
class ModelParts:
    """The parts of a model in the order of the pass; `inside` and `heads` have one entry for each layer."""

    before: Sequence[StripPart]
    blocks: StripPart
    inside: Sequence[StripBlock]
    after: Sequence[StripPart]
    heads: Sequence[int]


def model_strip(
    key: str, parts: ModelParts, *, at: tuple[int, int], group: str, on_pick: Callable[[int, int], None]
) -> None:
    """Draw the parts; `on_pick` gets the head of a press, and in the browser the views of `group` get it at once."""
    header = strip_header(parts)
    header |= {"group": group, "name": fingerprint(header), "at": list(at)}
    picked = partial(Gestures(group).pick, key, parts.heads, on_pick)
    get_component("model_strip")(key=key, data=pack_blob(header), on_pick_change=picked)


@dataclass(frozen=True)
class StripFigure:
    """The strip for a file, with layer and head `at` lit; `header` is in the language of whoever makes it."""

    header: dict[str, Any]
    scene = "strip"
    payload = b""


def strip_figure(parts: ModelParts, at: tuple[int, int], title: str) -> StripFigure:
    """The figure in the visitor's language, whoever writes the file."""
    return StripFigure(strip_header(parts) | {"at": at, "title": title})


def strip_header(parts: ModelParts) -> dict[str, Any]:
    kinds = list(dict.fromkeys(parts.inside))
    block_headers = [to_json(kind) for kind in kinds]
    return {
        "before": [to_json(component) for component in parts.before],
        "after": [to_json(component) for component in parts.after],
        "blocks": to_json(parts.blocks) | {"of": [block_headers[kinds.index(block)] for block in parts.inside]},
        "heads": list(parts.heads),
        "colours": {"q": Q_BLUE, "k": K_VERMILION},
        "words": {
            "blocks": _("Blocks: a press shows a head of that layer"),
            "layer": _("Layer {layer}"),
            "inside": _("Inside the block of layer {layer}; on show is head {head}"),
            "heads": _("Heads of this layer: a press shows one"),
            "head": _("Head {head}"),
        },
    }
