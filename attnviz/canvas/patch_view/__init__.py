"""A picture with all heads of a model over it, small and large; the browser draws whatever row is pointed at."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, TypeGuard, cast, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.base.head_record import PackedHeads
from attnviz.base.record_json import to_json
from attnviz.base.words import _
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.component import count, mount_component
from attnviz.live import canvas_wording

PatchRows = Literal["row", "mean", "layers", "rollout"]
PatchOrder = Literal["place", "distance", "entropy", "class"]
MOST_FACTOR = 10.0
SIDE = 32  #: pixels along a drawn digit, as the data set of the digit models had before it counted


@dataclass(frozen=True)
class PatchChoices:
    """A visitor's choices in the view: the head, pins, hidden patches, silenced heads."""

    layer: int = 0
    head: int = 0
    pins: tuple[int, ...] = ()  #: tokens whose rows are held
    hidden: tuple[int, ...] = ()  #: patches, row by row from 0
    silenced: tuple[tuple[int, int], ...] = ()
    factor: float = 1.0  #: times the model's own scale, for the head on show
    shows: PatchRows = "row"
    drawings: tuple[str, ...] | None = None  #: digits drawn on the picture, bits in base64, "" = empty; None: not drawn
    order: PatchOrder = "place"  #: of the small pictures


@dataclass(frozen=True, eq=False)
class PatchScene:
    """All that is drawn, apart from what a visitor chose.

    picture  the bytes of a PNG or JPEG, its type, and width and height in pixels
    grid     rows and columns of patches, and how many tokens stand before them
    special  what those are called; `words`: what looks, where patches do not
    heads    how many each layer has
    maps     (2, N, K): of every head the mean of its rows, and the usual row
    raw      heads before their softmax, packed: all of them, or only the one on show
    layers   (Q, K) the mean of all heads of all layers
    rolled   (T, T) attention followed through the layers up to the one on show
    answer   what the model says: names, the probability of each, and what it is without the change
    pads     how many digits can be drawn on the picture
    orders   what heads can be ordered by
    """

    picture: bytes
    kind: str
    size: tuple[int, int]
    grid: tuple[int, int, int]
    special: tuple[str, ...]
    query_tokens: tuple[str, ...] | None
    heads: tuple[int, ...]
    maps: NDArray[np.floating]
    raw: tuple[PackedHeads | None, bytes] = (None, b"")
    every: bool = False
    layers: NDArray[np.floating] | None = None
    rollout: NDArray[np.floating] | None = None
    measure: NDArray[np.floating] | None = None
    measure_text: tuple[str, ...] = ()
    sinks: tuple[int, ...] = ()
    smooth: bool = True
    windows: tuple[tuple[int, int], ...] = ()  #: side and shift of each layer's windows, where it has some
    usual: int = 0  #: the row on show while none is chosen
    answer: tuple[tuple[str, float, float], ...] = ()
    pads: int = 0
    orders: tuple[PatchOrder, ...] = ()

    @property
    def queries(self) -> int:
        """How many tokens look."""
        return len(self.query_tokens) if self.query_tokens is not None else self.keys

    @property
    def keys(self) -> int:
        return self.grid[0] * self.grid[1] + self.grid[2]

    def can_show(self, which: PatchRows) -> bool:
        """Whether what this lies over the picture is here: attention is followed through layers of patches only."""
        return {"layers": self.layers, "rollout": self.rollout}.get(which, self.maps) is not None

    def existing_choices(self, choices: PatchChoices) -> PatchChoices:
        """The choices without what does not exist here."""
        layer = min(max(choices.layer, 0), len(self.heads) - 1)
        patches = self.grid[0] * self.grid[1]
        return replace(
            choices,
            layer=layer,
            head=min(max(choices.head, 0), self.heads[layer] - 1),
            pins=tuple(pin for pin in choices.pins if 0 <= pin < self.queries),
            hidden=tuple(patch for patch in choices.hidden if 0 <= patch < patches),
            silenced=tuple(
                (at, head) for at, head in choices.silenced if at < len(self.heads) and head < self.heads[at]
            ),
            shows=choices.shows if self.can_show(choices.shows) else "row",
            drawings=choices.drawings if self.pads else None,
            order=choices.order if choices.order in self.orders else "place",
        )


def patch_view(
    key: str, document: str, scene: PatchScene, choices: PatchChoices, on_change: Callable[[PatchChoices], None]
) -> None:
    """Draw the scene. `document` names picture, model and stack; `on_change` runs before the rerun after a gesture."""

    def read_change(report: dict[str, Any]) -> PatchChoices | None:
        reported = read_choices(report) if report.get("doc") == document else None
        return None if reported is None else scene.existing_choices(reported)

    header, payload = _pack_scene(document, scene, scene.existing_choices(choices))
    mount_component("patch_view", key, "view", header, read_change, on_change, payload)


@dataclass(frozen=True, eq=False)
class PatchFigure:
    """A picture for a file with one row of weights over it, as the view shows it: the sentence about it stands below.

    `weights` (K,) of all keys, and the `query` they belong to; None = the picture as it is.
    """

    scene: ClassVar[str] = "patches"
    picture: PatchScene
    choices: PatchChoices
    title: str
    weights: NDArray[np.floating] | None = None
    query: int = 0
    side: int = 400

    @property
    def header(self) -> dict[str, Any]:
        view = _header("figure", self.picture, self.choices)
        changed = self.choices.hidden or self.choices.silenced
        return view | {
            "parts": {"picture": len(self.picture.picture)},
            "title": self.title,
            "query": None if self.weights is None else self.query,
            "side": self.side,
            "light": view["labels"]["full_light_changed" if changed else "full_light"],
        }

    @property
    def payload(self) -> bytes:
        row = b"" if self.weights is None else np.asarray(self.weights, "<f4").tobytes()
        return self.picture.picture + row


@dataclass(frozen=True, eq=False)
class PatchHeadsFigure:
    """All heads for a file, each over a small picture: `weights` (heads, K), layer after layer."""

    scene: ClassVar[str] = "patchHeads"
    picture: PatchScene
    choices: PatchChoices
    weights: NDArray[np.floating]
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        parts = {"picture": len(self.picture.picture)}
        return _header("figure", self.picture, self.choices) | {"parts": parts, "title": self.title}

    @property
    def payload(self) -> bytes:
        return self.picture.picture + np.asarray(self.weights, "<f4").tobytes()


def _pack_scene(document: str, scene: PatchScene, choices: PatchChoices) -> tuple[dict[str, Any], bytes]:
    """The scene: a header, and the picture as it is, then maps, rows of all layers and scores, compressed."""
    maps = packing.thumbnail_codes(scene.maps).tobytes()
    # where every head's scores are sent, the browser follows them through the layers at every frame
    layers, rolled = (b"", b"") if scene.every else (_encode_roots(scene.layers), _encode_roots(scene.rollout))
    raw_header, raw = scene.raw
    parts = {"picture": len(scene.picture), "maps": len(maps), "layers": len(layers)}
    parts |= {"rolled": len(rolled), "raw": len(raw)}
    header = _header(document, scene, choices) | {
        "parts": parts,
        "raw": None if raw_header is None else {"header": to_json(raw_header), "all": scene.every},
    }
    return header, scene.picture + packing.deflate(maps + layers + rolled + raw)


def _header(document: str, scene: PatchScene, choices: PatchChoices) -> dict[str, Any]:
    """The header for the browser and for a file: everything but the numbers."""
    return {
        "doc": document,
        "picture": {"type": scene.kind, "width": scene.size[0], "height": scene.size[1], "smooth": scene.smooth}
        | {"name": packing.fingerprint(scene.picture)},
        "answer": [list(bar) for bar in scene.answer],
        "pads": scene.pads,
        "grid": {"rows": scene.grid[0], "columns": scene.grid[1], "first": scene.grid[2]},
        "special": list(scene.special),
        "words": None if scene.query_tokens is None else list(scene.query_tokens),
        "heads": list(scene.heads),
        "measure": None if scene.measure is None else packing.json_numbers(scene.measure, 5),
        "measureText": list(scene.measure_text),
        "orders": list(scene.orders),
        "sinks": list(scene.sinks),
        "windows": [list(window) for window in scene.windows],
        "usual": scene.usual,
        "state": asdict(choices),
        "colours": canvas_wording.scene_colours(),
        "labels": labels(),
    }


def _encode_roots(weights: NDArray[np.floating] | None) -> bytes:
    """Weights as 16 bits of their square roots: none is off by more than 2e-5."""
    if weights is None:
        return b""
    return np.rint(np.sqrt(np.clip(weights, 0, 1)) * (2**16 - 1)).astype("<u2").tobytes()


def read_choices(report: dict[str, Any]) -> PatchChoices | None:
    """Choices as the browser reported them; None where they make no sense."""
    layer, head = count(report.get("layer")), count(report.get("head"))
    pins, hidden, pairs, factor, shows, order = map(
        report.get, ("pins", "hidden", "silenced", "factor", "shows", "order")
    )
    if (
        layer is None
        or head is None
        or not _is_index_list(pins)
        or not _is_index_list(hidden)
        or shows not in get_args(PatchRows)
        or order not in get_args(PatchOrder)
    ):
        return None
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 <= factor <= MOST_FACTOR:
        return None
    if not isinstance(pairs, list) or not all(_is_index_list(pair) and len(pair) == 2 for pair in pairs):
        return None
    silenced = tuple((layer, head) for layer, head in pairs)
    drawings = report.get("drawings")
    if drawings is not None and (drawings := read_drawings(drawings)) is None:
        return None
    rows, by = cast(PatchRows, shows), cast(PatchOrder, order)
    return PatchChoices(layer, head, tuple(pins), tuple(hidden), silenced, float(factor), rows, drawings, by)


def read_drawings(drawings: object) -> tuple[str, ...] | None:
    """Drawings as the browser sent them or a link holds them; None where one is none."""
    if (
        not isinstance(drawings, list | tuple)
        or len(drawings) > 3
        or any(unpack_bitmap(drawing) is None for drawing in drawings)
    ):
        return None
    return tuple(drawings)


def unpack_bitmap(drawing: object) -> NDArray[np.bool_] | None:
    """(32, 32), True where there is ink."""
    return np.zeros((SIDE, SIDE), bool) if drawing == "" else packing.parse_bits(drawing, (SIDE, SIDE))


def _is_index_list(value: object) -> TypeGuard[list[int]]:
    """Whether it is a list of numbers from 0."""
    return isinstance(value, list) and all(count(index) is not None for index in value)


def labels() -> dict[str, str]:
    """Sentences of the view; {names} are filled in by the browser."""
    return {
        "tile": _("Layer {layer}, head {head}"),
        "up_to": _("Attention followed through layers 0 to {layer}"),
        "all_layers": _("All heads of all layers, their mean"),
        "patch": _("row {row}, column {column}"),
        "word": _("“{word}”"),
        "share": _("{token} ({share})"),
        "looks": _("From {query}, {patches} goes to patches, most of all to {keys}."),
        "looks_mean": _("From all together, {patches} goes to patches, most of all to {keys}."),
        "looks_layers": _("In all heads of all layers, {query} gives {patches} to patches, most of all to {keys}."),
        "looks_rollout": _("Through the layers so far, patches make up {patches} of {query}, most of all {keys}."),
        "nothing": _("nothing in particular"),
        "mean_title": _("mean of all rows"),
        "full_light": _("The largest disc is {share}. A disc’s area is the weight."),
        "full_light_changed": _(
            "The largest disc is {share}. A disc’s area is the weight; queries and keys are those that each head had "
            "before the change."
        ),
        "unpin": _("Unpin {token}"),
        "plain": _("The picture as the model gets it"),
        "shows": _("What lies over the picture"),
        "row": _("One row"),
        "row_help": _("What the patch, token or word that you point at looks at"),
        "mean": _("Mean row"),
        "mean_help": _("The mean of all rows of this head"),
        "layers": _("Mean of layers"),
        "layers_help": _(
            "What the patch, token or word that you point at looks at in all heads of all layers, on average"
        ),
        "rollout": _("Rollout"),
        "rollout_help": _("What a patch is made of after this layer: all layers so far, with the residual stream"),
        "draw": _("Draw a digit"),
        "draw_help": _("Draw on the picture with mouse, pen or finger, or by arrow keys; Space sets the pen down"),
        "lifted": _("Pen lifted: row {row}, column {column}"),
        "pressed": _("Pen draws: row {row}, column {column}"),
        "clear": _("Clear"),
        "answer": _("What the model says"),
        "before": _("The line is what it says without the change."),
        "hide": _("Hide patches"),
        "hide_help": _("Paint over patches to hide them in every layer"),
        "painting": _("Paint over patches to hide them; paint over them again to show them."),
        "show_all": _("Show {count} again"),
        "show_all_help": _("Show all hidden patches again"),
        "silence": _("Silence head"),
        "silence_help": _("Set the output of the head on show to 0"),
        "one_scale": _("One scale"),
        "one_scale_help": _(
            "Discs on one scale for every head; otherwise each picture’s largest weight fills its patch"
        ),
        "scale": _("Scale"),
        "scale_help": _("Multiplies the model's own scale; 1 leaves it as it is"),
        "play": _("Play the words in the order in which they were written"),
        "layer": _("Layer"),
        "play_layers": _("Play the layers, from the first to the last"),
        "pause": _("Pause"),
        "orders": _("All heads, ordered by"),
        "order_place": _("Heads by layer"),
        "order_distance": _("Heads by distance in pixels"),
        "order_entropy": _("Heads by spread (entropy)"),
        "order_class": _("Heads by weight on the class token"),
    } | canvas_wording.joining_text()
