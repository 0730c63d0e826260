"""Where the head on show sits in its model: a press on a block chooses its layer; a file shows the same."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from attnviz.base.words import _
from attnviz.canvas.shared.component import Gestures, component
from attnviz.canvas.shared.packing import blob, fingerprint
from attnviz.figures import svg
from attnviz.figures.svg import Drawn, Ink, text_width
from attnviz.figures.theme import PRIMARY

PAD, LINE, GAP, LEAST = 10.0, 18.0, 26.0, 118.0
HIGH = 24.0  #: of the squares that stand for layers and heads


@dataclass(frozen=True)
class StripPart:
    """A part of a model: its name, lines about it, its share of the parameters (None: it has none), that in words."""

    title: str
    lines: Sequence[str] = ()
    share: float | None = None
    said: str = ""


@dataclass(frozen=True)
class StripBlock:
    """What is in one layer's block."""

    attention: StripPart
    mlp: StripPart
    norms: StripPart


@dataclass(frozen=True)
class StripWay:
    """The parts in the order in which a token passes them; `inside` and `heads` are of each layer."""

    before: Sequence[StripPart]
    blocks: StripPart
    inside: Sequence[StripBlock]
    after: Sequence[StripPart]
    heads: Sequence[int]


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
        "name": fingerprint(drawn, middle),
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

    picked = partial(Gestures(group).pick, key, heads, on_pick)
    component("model_strip")(key=key, data=blob(header), on_pick_change=picked)


def _inside() -> str:
    return _("Inside the block of layer {layer}; on show is head {head}")


@dataclass(frozen=True)
class _Squares:
    """A row of squares, one of them lit; numbered where they are heads."""

    count: int
    lit: int
    numbered: bool

    @property
    def width(self) -> float:
        return self.count * (22 if self.numbered else 12)


@dataclass(frozen=True)
class StripPicture:
    """The parts in the order in which a token passes them, and below them what is in the block that is lit."""

    way: StripWay
    at: tuple[int, int]  #: layer and head
    title: str
    inside_title: str

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption; `bar` draws the shares."""
        layer, head = self.at
        way, inside = self.way, self.way.inside[layer]
        layers = _Squares(len(way.inside), layer, numbered=False)
        above = _row([*way.before, way.blocks, *way.after], {len(way.before): layers}, 0, 0, ink, bar)
        top = above.height + 16
        heads = _Squares(way.heads[layer], head, numbered=True)
        below = _row([inside.attention, inside.mlp, inside.norms], {0: heads}, 12, top + 34, ink, bar, arrows=1)
        width = max(above.width, below.width + 12, text_width(self.inside_title, 13) + 24)
        high = below.height + 46
        frame = svg.box(0.5, top, width - 1, high, stroke=PRIMARY[ink.dark], radius=8, dash="4 3")
        name = svg.words(self.inside_title, 12, top + 18, size=13, weight=600)
        return Drawn(width, top + high + 1, [*above.parts, frame, name, *below.parts])


def strip_picture(way: StripWay, at: tuple[int, int], title: str) -> StripPicture:
    """The same for a file, in the visitor's language, whoever writes the file."""
    layer, head = at
    return StripPicture(way, at, title, _inside().format(layer=layer, head=head))


def _row(
    parts: Sequence[StripPart], rows: Mapping[int, _Squares], x: float, y: float, ink: Ink, bar: bool, arrows: int = 99
) -> Drawn:
    """Boxes beside each other, all as high as the highest; `rows` are the squares in some; arrows between the first."""
    high = max(_height(part, rows.get(number), bar) for number, part in enumerate(parts))
    drawn, right = [], x
    for number, part in enumerate(parts):
        squares = rows.get(number)
        if 0 < number <= arrows:
            drawn.append(svg.words("→", right + GAP / 2, y + high / 2, size=14, anchor="middle"))
        right += GAP if number else 0
        wide = _width(part, squares)
        drawn += _box(part, squares, right, y, wide, high, ink, bar)
        right += wide
    return Drawn(right, high, drawn)


def _width(part: StripPart, squares: _Squares | None) -> float:
    texts = [text_width(part.title, 13) * 1.06, *(text_width(text, 13) for text in (*part.lines, part.said))]
    return max(LEAST, max(texts) * 1.12, squares.width if squares else 0) + 2 * PAD  # no text touches the frame


def _height(part: StripPart, squares: _Squares | None, bar: bool) -> float:
    share = 0.0 if part.share is None else LINE + (10 if bar else 0)
    return 2 * 8 + LINE * (1 + len(part.lines)) + (HIGH + 8 if squares else 0) + share


def _box(
    part: StripPart, squares: _Squares | None, x: float, y: float, wide: float, high: float, ink: Ink, bar: bool
) -> list[str]:
    lit = PRIMARY[ink.dark]
    heads = squares is not None and squares.numbered
    drawn = [svg.box(x, y, wide, high, stroke=lit if heads else ink.border, width=2 if heads else 1, radius=8)]
    left, at = x + PAD, y + 8 + LINE / 2
    drawn.append(svg.words(part.title, left, at, size=13, weight=600))
    at += LINE
    if squares:
        drawn += _squares(squares, left, at - LINE / 2 + 2, wide - 2 * PAD, ink)
        at += HIGH + 8
    for text in part.lines:
        drawn.append(svg.words(text, left, at, size=13))
        at += LINE
    if part.share is not None:
        drawn.append(svg.words(part.said, left, at, size=13, opacity=0.85))
        if bar:
            whole = wide - 2 * PAD
            drawn.append(svg.box(left, at + LINE / 2 + 1, whole, 6, fill=ink.border, radius=3))
            drawn.append(svg.box(left, at + LINE / 2 + 1, part.share * whole, 6, fill=lit, radius=3))
    return drawn


def _squares(squares: _Squares, x: float, y: float, room: float, ink: Ink) -> list[str]:
    step = min(room / squares.count, 26.0)
    lit = PRIMARY[ink.dark]
    drawn = []
    for i in range(squares.count):
        chosen = i == squares.lit
        fill, stroke = (lit, lit) if chosen else ("none", ink.border)
        drawn.append(svg.box(x + i * step, y, step - 2, HIGH, fill=fill, stroke=stroke, radius=3))
        if squares.numbered:
            white = "#FFFFFF" if chosen else ""
            middle = x + i * step + step / 2 - 1
            drawn.append(svg.words(str(i), middle, y + HIGH / 2, size=11, anchor="middle", fill=white))
    return drawn
