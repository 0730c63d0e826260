"""Pictures side by side in one file, each with its name above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.figures import svg
from attnviz.figures.picture import Picture
from attnviz.figures.svg import Drawn, Ink
from attnviz.figures.wrapping import wrapped

GAP, LINE = 28, 18


@dataclass(frozen=True)
class RowPicture:
    """`pictures` from left to right; their own titles become their names."""

    pictures: Sequence[Picture]
    title: str = ""

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption."""
        drawn = [picture.drawn(ink, bar) for picture in self.pictures]
        names = [
            wrapped(each.title, max(12.0, one.width / 7.6)) for each, one in zip(self.pictures, drawn, strict=True)
        ]
        above = LINE * max((len(lines) for lines in names), default=0) + 6
        x, parts = 0.0, []
        for lines, one in zip(names, drawn, strict=True):
            parts += [svg.words(text, x, LINE * (at + 0.5), size=13, weight=600) for at, text in enumerate(lines)]
            parts.append(f'<g transform="translate({svg.number(x)} {above})">{"".join(one.parts)}</g>')
            x += one.width + GAP
        return Drawn(max(0.0, x - GAP), above + max((one.height for one in drawn), default=0), parts)
