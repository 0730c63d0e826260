"""A picture made ready for a file: its background, a title above it, a caption below it, nothing cut off.

One writer for every SVG: what knows how to draw itself (`svg_head`, `svg_lines`, `svg_mask`, `svg_board`,
`svg_mosaic`) is framed here, and so is a Plotly chart, whose own SVG the browser puts in the place of `CHART`.
"""

from __future__ import annotations

import unicodedata
from typing import Protocol, runtime_checkable

from attnviz.figures import svg
from attnviz.figures.svg import Background, Drawn, Ink, ink_on

CHART = "<!--chart-->"  #: what stands for a chart that only the browser can draw
MARGIN, NARROWEST = 20, 420


@runtime_checkable
class Picture(Protocol):
    """What can draw itself as SVG."""

    @property
    def title(self) -> str: ...

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn: ...


def to_svg(
    picture: Picture,
    *,
    background: Background = "white",
    title: str | None = None,
    caption: str | None = None,
    colorbar: bool = True,
) -> str:
    """The whole file. `title=None` leaves the title out, as does `caption=None` the caption."""
    ink = ink_on(background)
    return svg.document(framed(picture.drawn(ink, colorbar), ink, title, caption), ink, svg.hatching(ink))


def framed_chart(width: float, height: float, background: Background, title: str | None, caption: str | None) -> str:
    """A file with an empty place of this size for a chart."""
    ink = ink_on(background)
    return svg.document(framed(Drawn(width, height, [CHART]), ink, title, caption, margin=0), ink)


def framed(drawn: Drawn, ink: Ink, title: str | None, caption: str | None, margin: float = MARGIN) -> Drawn:
    """The drawing with its title above and its caption below, in as many lines as they need."""
    width = max(drawn.width + 2 * margin, NARROWEST)
    heading = wrapped(title or "", (width - 2 * MARGIN) / 10.6)
    lines = wrapped(caption or "", (width - 2 * MARGIN) / 7.0)
    y, parts = float(margin), []
    for text in heading:
        parts.append(svg.words(text, MARGIN, max(y, 14.0) + 10, size=18, weight=600))
        y = max(y, 14.0) + 24
    y += 12 if heading else 0
    parts.append(f'<g transform="translate({svg.number(margin)} {svg.number(y)})">{"".join(drawn.parts)}</g>')
    y += drawn.height + (14 if lines else 0)
    for text in lines:
        parts.append(svg.words(text, MARGIN, y + 8, size=12, opacity=0.85))
        y += 18
    return Drawn(width, y + (MARGIN if lines else margin), parts)


def wrapped(text: str, columns: float) -> list[str]:
    """`text` in lines of at most `columns`; Chinese letters and emoji take two each, and a line may end at each."""
    lines: list[str] = []
    line, taken = "", 0.0
    for word in text.split():
        for number, part in enumerate(part for unit in _units(word) for part in _broken(unit, columns)):
            needed, gap = wide(part), " " if line and number == 0 else ""
            if line and taken + len(gap) + needed > columns:
                lines.append(line)
                line, taken, gap = "", 0.0, ""
            line, taken = f"{line}{gap}{part}", taken + len(gap) + needed
    return [*lines, line] if line else lines


#: punctuation of Chinese text that no line begins with, and that none ends with
_CLOSING, _OPENING = "，。、：；！？）》」』】％…", "（《「『【"


def _units(word: str) -> list[str]:
    """What of a word stays in one line where it can: a number, a Latin word, or a Chinese letter, with its signs."""
    units: list[str] = []
    for letter in word:
        last = units[-1][-1] if units else ""
        together = letter in _CLOSING or last in _OPENING or wide(letter) == 0 or wide(letter) == wide(last) == 1
        if units and together:
            units[-1] += letter
        else:
            units.append(letter)
    return units


def wide(text: str) -> int:
    """How many columns `text` takes: East Asian letters and emoji two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _broken(word: str, columns: float) -> list[str]:
    """A word in parts, each at most `columns` columns wide."""
    parts, part, taken = [], "", 0
    for letter in word:
        if part and taken + wide(letter) > columns:
            parts.append(part)
            part, taken = "", 0
        part, taken = part + letter, taken + wide(letter)
    return [*parts, part]
