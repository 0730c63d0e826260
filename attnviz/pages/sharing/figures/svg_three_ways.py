"""MHA, GQA and MQA beside each other: which query head reads which K/V head, and what is kept.

On a page each column is a picture of its own, so that a phone can put them below each other; in a file they are one.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.base.words import _, ended, sentences
from attnviz.figures import svg
from attnviz.figures.theme import FONT, K_VERMILION, MASKED, Q_BLUE, V_GREEN
from attnviz.figures.title_lines import wrapped

WIDE, BETWEEN = 320, 36
WIRES = 132  #: pixels from the query heads to the K/V heads
LINE = 17
LETTER = 7.2  #: pixels of a letter in words of 13 pixels, in a wide face

#: The ink of a picture on the page, whatever its theme: words take the page's own colour.
PAGE_INK = svg.Ink("none", "#FFFFFF", "currentColor", "currentColor", False, Q_BLUE, K_VERMILION, V_GREEN)


@dataclass(frozen=True)
class SharingColumn:
    """One way of sharing: `heads` query heads read `kv_heads` key/value heads."""

    name: str
    heads: int
    kv_heads: int
    facts: Sequence[str]  #: shapes and parameters, a line each
    kept: str  #: the bytes of the cache, in words
    share: float  #: of the cache of MHA, 0 to 1
    room: int = 0  #: lines that the facts of its neighbours take
    wires: int = WIRES
    cache: str = ""  #: how the picture says what is kept

    @property
    def lines(self) -> list[str]:
        return [line for fact in self.facts for line in wrapped(fact, WIDE / LETTER)]

    @property
    def spoken(self) -> str:
        """The column for those who cannot see it."""
        parts = (self.name, _counted(self.heads, self.kv_heads), *self.facts, self.cache)
        return sentences(*(ended(part.rstrip(".。")) for part in parts))

    def drawn(self, ink: svg.Ink) -> svg.Drawn:
        """Title, wiring, facts, and the cache as a bar."""
        parts = [
            svg.words(self.name, 0, 10, size=18, weight=700),
            svg.words(_counted(self.heads, self.kv_heads), 0, 33, size=13, opacity=0.85),
            *_wires(self.heads, self.kv_heads, 48, self.wires),
        ]
        y = 48.0 + self.wires + 34
        parts += [svg.words(line, 0, y + LINE * at, size=13) for at, line in enumerate(self.lines)]
        y += LINE * max(len(self.lines), self.room) + 8
        parts += [
            svg.words(self.cache, 0, y + 4, size=17, weight=700),
            svg.box(0, y + 18, WIDE, 12, fill=MASKED, opacity=0.3, radius=4),
            svg.box(0, y + 18, max(3.0, WIDE * self.share), 12, fill=K_VERMILION, radius=4),
        ]
        return svg.Drawn(WIDE, y + 34, parts)

    def on_page(self) -> str:
        """The column as a picture of its own, as wide as there is room, in the page's own colours."""
        drawn = self.drawn(PAGE_INK)
        view = f"0 0 {svg.number(drawn.width)} {svg.number(drawn.height)}"
        look = f'role="img" aria-label="{html.escape(self.spoken)}" font-family="{html.escape(FONT)}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" fill="currentColor" {look}>'
            f"{''.join(drawn.parts)}</svg>"
        )


@dataclass(frozen=True)
class ThreeWaysPicture:
    """The columns side by side, for a slide."""

    columns: Sequence[SharingColumn]
    title: str = ""

    def drawn(self, ink: svg.Ink, bar: bool = True) -> svg.Drawn:
        """The picture without title and caption."""
        columns = [column.drawn(ink) for column in self.columns]
        parts = [
            f'<g transform="translate({at * (WIDE + BETWEEN)} 0)">{"".join(column.parts)}</g>'
            for at, column in enumerate(columns)
        ]
        tall = max(column.height for column in columns)
        return svg.Drawn(len(self.columns) * (WIDE + BETWEEN) - BETWEEN, tall, parts)


def _counted(heads: int, kv_heads: int) -> str:
    text = _("{h} query heads on 1 K/V head") if kv_heads == 1 else _("{h} query heads on {g} K/V heads")
    return text.format(h=heads, g=kv_heads)


def _wires(heads: int, kv_heads: int, top: float, long: int) -> list[str]:
    """Query heads above, K/V heads below, each query head wired to what it reads."""
    step = WIDE / heads
    size = min(18.0, step * 0.78)
    beside = min(18.0, WIDE / kv_heads * 0.39)
    bottom = top + long
    middle = [(kv + 0.5) * WIDE / kv_heads for kv in range(kv_heads)]
    ends = [((head + 0.5) * step, middle[head * kv_heads // heads]) for head in range(heads)]
    path = "".join(f"M{svg.number(x)} {svg.number(top + size)}L{svg.number(to)} {svg.number(bottom)}" for x, to in ends)
    parts = [f'<path d="{path}" fill="none" stroke="{MASKED}" stroke-width="{svg.number(min(1.2, step / 4))}"/>']
    for x, _to in ends:
        parts += _head("Q", x - size / 2, top, size, Q_BLUE)
    for x in middle:
        parts += _head("K", x - beside, bottom, beside, K_VERMILION)
        parts += _head("V", x, bottom, beside, V_GREEN)
    return parts


def _head(letter: str, x: float, y: float, size: float, colour: str) -> list[str]:
    parts = [svg.box(x, y, size, size, fill=colour, radius=min(3.0, size / 5))]
    if size >= 14:
        parts.append(
            svg.words(letter, x + size / 2, y + size / 2, size=11, fill="#FFFFFF", anchor="middle", weight=600)
        )
    return parts
