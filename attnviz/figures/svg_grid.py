"""Queries down, keys across: where cells and labels are, and the bar or legend below, for every picture of a matrix."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures import svg
from attnviz.figures.svg import Anchor, Ink, text_width
from attnviz.figures.theme import SCORES, SCORES_ON_DARK, WEIGHTS, ramp

LONGEST_LABEL = 200  # pixels
EVERY_LABEL = 300  # most tokens along a side for which a picture grows, so that every label is written
VECTOR_CELLS = 64 * 64  # cells; a larger matrix is one picture of pixels inside the SVG
SLANT = 60  # degrees that labels above the columns lean when they do not fit side by side
HEADINGS = 22  # pixels for the words "Queries" and "Keys"


@dataclass(frozen=True)
class Grid:
    """Places of a matrix with these row and column labels, `cell` pixels a cell."""

    rows: tuple[str, ...]
    cols: tuple[str, ...]
    cell: float
    size: float = 12  #: of the labels

    @classmethod
    def of(cls, rows: Sequence[str], cols: Sequence[str], largest: float = 44) -> "Grid":
        """Cells as large as the number of tokens allows."""
        most = max(len(rows), len(cols), 1)
        side = largest if most <= 12 else max(20, 760 / most) if most <= 40 else 14.0
        if most > EVERY_LABEL:
            side = 1200 / most
        return cls(
            tuple(svg.visible(token) for token in rows),
            tuple(svg.visible(token) for token in cols),
            min(largest, side),
            12 if side >= 16 else 10,
        )

    @cached_property
    def _widest(self) -> tuple[float, float]:
        sides = [[min(LONGEST_LABEL, text_width(t, self.size)) for t in side] for side in (self.rows, self.cols)]
        return max(sides[0], default=0), max(sides[1], default=0)

    @property
    def flat(self) -> bool:
        """Whether column labels fit side by side."""
        return self._widest[1] + 6 <= self.cell

    @property
    def left(self) -> float:
        return math.ceil(self._widest[0]) + 12 + HEADINGS

    @property
    def top(self) -> float:
        over = self.size + 14 if self.flat else self._widest[1] * math.sin(math.radians(SLANT)) + 14
        return math.ceil(over) + HEADINGS

    @property
    def w(self) -> float:
        return self.cell * len(self.cols)

    @property
    def h(self) -> float:
        return self.cell * len(self.rows)

    @property
    def right(self) -> float:
        """Room for the last column's leaning label."""
        if self.flat:
            return 8
        return max(8.0, self._widest[1] * math.cos(math.radians(SLANT)) - self.cell / 2 + 8)

    @property
    def width(self) -> float:
        return math.ceil(self.left + self.w + self.right)

    @property
    def height(self) -> float:
        return math.ceil(self.top + self.h + 6)

    def x(self, col: float) -> float:
        return self.left + col * self.cell

    def y(self, row: float) -> float:
        return self.top + row * self.cell

    def label(self, axis: str, at: int) -> str:
        """A token as it is written beside its row or above its column."""
        return svg.cut((self.rows if axis == "q" else self.cols)[at], LONGEST_LABEL, self.size)

    def labels(self, ink: Ink) -> list[str]:
        """The words Queries and Keys, and every label that has room."""
        parts = [
            svg.words(_("Queries"), 12, self.top + self.h / 2, fill=ink.q, weight=600, anchor="middle", turn=-90),
            svg.words(_("Keys"), self.left + self.w / 2, 10, fill=ink.k, weight=600, anchor="middle"),
        ]
        for axis, count, need in (
            ("q", len(self.rows), self.size),
            ("k", len(self.cols), 1 if self.flat else self.size),
        ):
            for at in range(0, count, svg.label_step(self.cell, need)):
                x, y, anchor, turn = self._label_place(axis, at)
                parts.append(svg.words(self.label(axis, at), x, y, size=self.size, anchor=anchor, turn=turn))
        return parts

    def _label_place(self, axis: str, at: int) -> tuple[float, float, Anchor, float]:
        """Where a label is anchored, by which end, and by how many degrees it is turned."""
        if axis == "q":
            return self.left - 6, self.y(at + 0.5), "end", 0
        if self.flat:
            return self.x(at + 0.5), self.top - 10, "middle", 0
        return self.x(at + 0.5), self.top - 6, "start", -SLANT

    def lit(self, axis: str, at: int, ink: Ink) -> list[str]:
        """A whole row or column framed, and its label as a pill."""
        colour = ink.q if axis == "q" else ink.k
        x, y, w, h = (
            (self.left, self.y(at), self.w, self.cell) if axis == "q" else (self.x(at), self.top, self.cell, self.h)
        )
        frames = [svg.box(x, y, w, h, stroke=ink.ground, width=4), svg.box(x, y, w, h, stroke=colour, width=2)]
        left, middle, anchor, turn = self._label_place(axis, at)
        text, size, ground = self.label(axis, at), self.size, ink.ground
        return [
            *frames,
            svg.pill(text, left, middle, size=size, colour=colour, ground=ground, anchor=anchor, turn=turn),
        ]

    def cells(self, codes: np.ndarray, palette: Sequence[str]) -> str:
        """The coloured cells: `codes` (rows, columns) are places in `palette`, -1 where nothing is painted."""
        if codes.size > VECTOR_CELLS:
            most = len(palette) - 1  # a PNG holds 256 colours, and one of them is for what is not painted
            steps = min(254, most)
            seen = np.where(codes < 0, steps + 1, np.rint(codes * (steps / max(1, most)))).astype(np.uint8)
            colours = [palette[round(step * most / max(1, steps))] for step in range(steps + 1)]
            png = svg.indexed_png(seen, [*colours, "#000000"], clear=steps + 1)
            return svg.pixels(png, self.left, self.top, self.w, self.h, smooth=self.cell < 1)
        paths: dict[int, list[str]] = {}
        for row in range(codes.shape[0]):
            for col, length in _runs(codes[row]):
                paths.setdefault(int(codes[row, col]), []).append(f"M{col} {row}h{length}v1h-{length}z")
        painted = "".join(f'<path fill="{palette[code]}" d="{"".join(d)}"/>' for code, d in sorted(paths.items()))
        move = f"translate({svg.number(self.left)} {svg.number(self.top)}) scale({svg.number(self.cell)})"
        return f'<g transform="{move}" shape-rendering="crispEdges">{painted}</g>'


def _runs(row: np.ndarray) -> list[tuple[int, int]]:
    """Where equal neighbours begin and how many they are; runs of -1 are left out."""
    begins = np.flatnonzero(np.diff(row, prepend=row[:1] - 1))
    return [(int(a), int(b - a)) for a, b in zip(begins, np.append(begins[1:], len(row)), strict=True) if row[a] >= 0]


@dataclass(frozen=True)
class ColourScale:
    """Which value has which colour: up to `top`, on both sides of 0 if `signed`, in square-root steps if `root`."""

    top: float = 1.0
    signed: bool = False
    root: bool = False
    unit: str = ""

    def stops(self, ink: Ink) -> list[tuple[float, str]]:
        """The colours along the bar; of one with two sides nought is nearly the page, light or dark."""
        if not self.signed:
            return WEIGHTS
        return SCORES_ON_DARK if ink.dark else SCORES

    def palette(self, ink: Ink) -> list[str]:
        return ramp(self.stops(ink))

    def place(self, values: np.ndarray) -> np.ndarray:
        """Where values lie on the bar, 0 to 1."""
        share = np.minimum(1.0, np.abs(values) / (self.top or 1.0))
        share = np.sqrt(share) if self.root else share
        return 0.5 + np.sign(values) * share / 2 if self.signed else np.where(values < 0, 0.0, share)

    def codes(self, values: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """Places in the palette, -1 where hidden."""
        return np.where(hidden, -1, np.rint(self.place(np.where(hidden, 0.0, values)) * 255)).astype(np.int16)

    def bar(self, x: float, y: float, ink: Ink, hatched: bool) -> tuple[list[str], float]:
        """The bar under a picture with its ticks, what the hatch stands for, and the width of it all."""
        name = f"bar{'s' if self.signed else 'w'}"
        colours = "".join(f'<stop offset="{at}" stop-color="{colour}"/>' for at, colour in self.stops(ink))
        begin, width = x + text_width(self.unit, 12) + 10, 180
        parts = [
            f'<defs><linearGradient id="{name}">{colours}</linearGradient></defs>',
            svg.words(self.unit, x, y + 5),
            svg.box(begin, y, width, 10, fill=f"url(#{name})", radius=2),
        ]
        for share in self._ticks():
            at = begin + float(self.place(np.array(share * self.top))) * width
            parts.append(svg.words(tick_text(share * self.top), at, y + 20, size=10, anchor="middle"))
        end = begin + width + 14
        if hatched:
            parts += [svg.box(end, y, 14, 10, fill="url(#masked)"), svg.words(_("masked"), end + 20, y + 5)]
            end += 24 + text_width(_("masked"), 12)
        return parts, end

    def _ticks(self) -> tuple[float, ...]:
        if self.signed:
            return (-1, -0.5, 0, 0.5, 1)
        return (0, 0.01, 0.1, 0.25, 0.5, 1) if self.root else (0, 0.25, 0.5, 0.75, 1)


def tick_text(value: float) -> str:
    """A tick of a colour bar: two digits at most."""
    if value == 0:
        return "0"
    text = f"{Rounded(value):.0e}" if abs(value) >= 1000 or abs(value) < 0.001 else f"{Rounded(value):.2g}"
    return text.replace("-", "−", 1) if value < 0 else text
