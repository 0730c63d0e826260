"""One head as a matrix, as the screen shows it: colours, hatch, numbers, pinned tokens, the bar below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from attnviz.base.words import _
from attnviz.figures import svg
from attnviz.figures.svg import Drawn, Ink
from attnviz.figures.svg_grid import ColourScale, Grid
from attnviz.figures.theme import text_on

PictureKind = Literal["weights", "values", "diff", "scores"]
NUMBERS = 34  # pixels that a cell must have for its number to be written into it


@dataclass(frozen=True)
class HeadPicture:
    """Queries down, keys across; pinned queries framed in Q's colour, pinned keys in K's.

    kind "weights": 0 to 1, or up to the largest (`full_range=False`); "values": up to the largest; "diff": -1 to 1,
    "scores": up to the largest on both sides of 0. `root`: colours in square-root steps. `breaks`: rows and columns
    where a second sentence begins. `unit` names a value, `top` is the end of the scale where others must compare.
    """

    values: np.ndarray
    rows: Sequence[str]
    cols: Sequence[str]
    hidden: np.ndarray | None = None
    kind: PictureKind = "weights"
    full_range: bool = True
    root: bool = False
    pinned_rows: Sequence[int] = ()
    pinned_cols: Sequence[int] = ()
    cell: tuple[int, int] | None = None
    breaks: tuple[Sequence[int], Sequence[int]] = ((), ())
    title: str = ""
    unit: str = ""
    top: float | None = None

    @cached_property
    def gone(self) -> np.ndarray:
        """(Q, K) True where nothing is to be seen."""
        broken = ~np.isfinite(np.asarray(self.values, np.float64))
        return broken if self.hidden is None else broken | np.asarray(self.hidden, bool)

    @cached_property
    def scale(self) -> ColourScale:
        names = {"weights": _("weight"), "values": _("value"), "diff": _("difference"), "scores": _("score")}
        largest = float(np.abs(np.where(self.gone, 0, self.values)).max(initial=0)) or 1.0
        fixed = self.kind in ("weights", "diff") and self.full_range
        top = self.top or (1.0 if fixed else largest)
        return ColourScale(top, self.kind in ("diff", "scores"), self.root, self.unit or names[self.kind])

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption."""
        grid, palette = Grid.of(self.rows, self.cols), self.scale.palette(ink)
        codes = self.scale.codes(np.asarray(self.values, np.float64), self.gone)
        parts = []
        if self.gone.any():
            parts.append(svg.box(grid.left, grid.top, grid.w, grid.h, fill="url(#masked)"))
        parts += [grid.cells(codes, palette), *self._numbers(grid, codes, palette), *self._separators(grid)]
        parts.append(svg.box(grid.left - 0.5, grid.top - 0.5, grid.w + 1, grid.h + 1, stroke=ink.border))
        parts += grid.labels(ink)
        parts += [part for at in self.pinned_rows for part in grid.lit("q", at, ink)]
        parts += [part for at in self.pinned_cols for part in grid.lit("k", at, ink)]
        if self.cell is not None:
            place = (grid.x(self.cell[1]), grid.y(self.cell[0]), grid.cell, grid.cell)
            parts += [svg.box(*place, stroke=ink.ground, width=5), svg.box(*place, stroke=ink.text, width=3)]
        width, height = grid.width, grid.height
        if bar:
            drawn, end = self.scale.bar(grid.left, grid.height + 8, ink, bool(self.gone.any()))
            parts, width, height = parts + drawn, max(width, end + 8), height + 38
        return Drawn(width, height, parts)

    def _numbers(self, grid: Grid, codes: np.ndarray, palette: Sequence[str]) -> list[str]:
        if grid.cell < NUMBERS:
            return []
        size = min(13, int(grid.cell / 3.4))
        parts = []
        for row, col in np.argwhere(codes >= 0).tolist():
            value = float(self.values[row, col])
            text = _written(value)
            ink = text_on(palette[codes[row, col]])
            faint = 0.45 if abs(value) < 0.005 else 1
            x, y = grid.x(col + 0.5), grid.y(row + 0.5)
            parts.append(svg.words(text, x, y, size=size, fill=ink, anchor="middle", opacity=faint))
        return parts

    def _separators(self, grid: Grid) -> list[str]:
        """Dashed lines where one sentence ends and the next begins."""
        rows, cols = self.breaks
        ends = [(grid.left, grid.y(at), grid.left + grid.w, grid.y(at)) for at in rows]
        ends += [(grid.x(at), grid.top, grid.x(at), grid.top + grid.h) for at in cols]
        strokes = (("#00000080", 3.0), ("#FFFFFF", 1.2))
        return [svg.line(*end, stroke=colour, width=w, dash="5 4") for end in ends for colour, w in strokes]


def _written(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")
