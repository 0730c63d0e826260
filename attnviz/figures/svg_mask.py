"""A mask as the screen shows it: cells that may look in colour, the others hatched, a legend below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.figures import svg
from attnviz.figures.svg import Drawn, Ink, text_width
from attnviz.figures.svg_grid import Grid
from attnviz.figures.theme import PRIMARY, mixed
from attnviz.words import _


@dataclass(frozen=True)
class MaskPicture:
    """`allowed` (Q, K) boolean, True where a query may look at a key."""

    allowed: np.ndarray
    rows: Sequence[str]
    cols: Sequence[str]
    title: str = ""

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption; `bar` is its legend."""
        allowed = np.asarray(self.allowed, bool)
        grid = Grid.of(self.rows, self.cols, largest=34)
        colour = mixed(PRIMARY[ink.dark], ink.ground, 0.18)
        parts = [
            svg.box(grid.left, grid.top, grid.w, grid.h, fill="url(#masked)"),
            grid.cells(np.where(allowed, 0, -1).astype(np.int16), [colour]),
        ]
        if grid.cell >= 5:
            parts.append(_mesh(grid, ink.ground))
        parts += grid.labels(ink)
        for row in np.flatnonzero(~allowed.any(1)).tolist():  # may look at nothing
            parts.append(svg.box(grid.left - 4, grid.y(row) + 1, 3, max(1, grid.cell - 2), fill=ink.k))
        width, height = grid.width, grid.height
        if bar:
            legend, end = _legend(grid.left, height + 8, colour)
            parts, width, height = parts + legend, max(width, end + 8), height + 28
        return Drawn(width, height, parts)


def _mesh(grid: Grid, colour: str) -> str:
    across = "".join(f"M0 {svg.number(row * grid.cell)}h{svg.number(grid.w)}" for row in range(len(grid.rows) + 1))
    down = "".join(f"M{svg.number(col * grid.cell)} 0v{svg.number(grid.h)}" for col in range(len(grid.cols) + 1))
    move = f"translate({svg.number(grid.left)} {svg.number(grid.top)})"
    width = 1 if grid.cell >= 12 else 0.5
    return f'<path transform="{move}" d="{across}{down}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _legend(x: float, y: float, colour: str) -> tuple[list[str], float]:
    kept, hidden = _("may look"), _("may not look")
    second = x + 20 + text_width(kept, 12) + 16
    parts = [
        svg.box(x, y, 14, 10, fill=colour),
        svg.words(kept, x + 20, y + 5),
        svg.box(second, y, 14, 10, fill="url(#masked)"),
        svg.words(hidden, second + 20, y + 5),
    ]
    return parts, second + 20 + text_width(hidden, 12)
