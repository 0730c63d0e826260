"""A picture with a head's row over it as light, as the screen shows it: one picture, or several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from attnviz.figures import svg
from attnviz.figures.svg import Drawn, Ink
from attnviz.words import _

GLOW = "#FFB000"  #: the browser's `GLOW` in src/patch_drawing.js
GROUND, FLOOR = 0.62, 22  #: the browser's grey under the light
FULL = 0.88  #: how much of the picture full light covers
SIDE = 360.0
GAP = 16.0
SMALL = 64  #: pixels; a smaller picture is drawn with hard edges


@dataclass(frozen=True)
class LitRow:
    """One row of weights over the patches, (rows * columns,), and the patch that looks, where it is one."""

    name: str
    weights: np.ndarray
    at: int | None = None


@dataclass(frozen=True)
class PatchPicture:
    """The picture (height, width, 3) of 8 bits, cut into `grid` rows and columns, once for each row of weights.

    `top` is the weight that is full light; None = of each row its own largest. Brightness is the square root of the
    weight. Patches that are `hidden` are covered.
    """

    pixels: np.ndarray
    grid: tuple[int, int]
    lit: Sequence[LitRow]
    hidden: Sequence[int] = ()
    top: float | None = None
    title: str = ""
    side: float = field(default=SIDE)

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption; `bar` says what full light is."""
        height, width = self.pixels.shape[:2]
        times = self.side / max(height, width)
        w, h = width * times, height * times
        below = 22.0 + (18.0 if bar else 0.0)
        parts: list[str] = []
        for place, row in enumerate(self.lit):
            parts += self._one(row, place * (w + GAP), w, h, ink, bar)
        return Drawn(len(self.lit) * (w + GAP) - GAP, h + below, parts)

    def _one(self, row: LitRow, x: float, w: float, h: float, ink: Ink, bar: bool) -> list[str]:
        rows, columns = self.grid
        cell_w, cell_h = w / columns, h / rows
        parts = [svg.pixels(self._ground(), x, 0, w, h, smooth=max(self.pixels.shape[:2]) > SMALL)]
        top = self.top or float(row.weights.max(initial=0)) or 1.0
        for patch, weight in enumerate(row.weights.tolist()):
            share = min(1.0, max(0.0, weight / top) ** 0.5)
            place = (x + patch % columns * cell_w, patch // columns * cell_h, cell_w, cell_h)
            if share >= 0.02:
                parts.append(_lit(*place, share * FULL))
        for patch in self.hidden:
            place = (x + patch % columns * cell_w, patch // columns * cell_h, cell_w, cell_h)
            parts.append(svg.box(*place, fill="#8A8F98"))
        if row.at is not None:
            place = (x + row.at % columns * cell_w, row.at // columns * cell_h, cell_w, cell_h)
            parts += [svg.box(*place, stroke="#FFFFFF", width=4), svg.box(*place, stroke=ink.q, width=2)]
        parts.append(svg.words(svg.cut(row.name, w, 12), x, h + 14, size=12))
        if bar:
            said = _("Full light: {share}").format(share=f"{top:.1%}")
            parts.append(svg.words(said, x, h + 31, size=11, opacity=0.8))
        return parts

    def _ground(self) -> bytes:
        """The picture without its colours and half as strong, as a PNG."""
        grey = self.pixels.astype(np.float64) @ np.array([0.299, 0.587, 0.114])
        codes = np.rint(FLOOR + GROUND * grey).astype(np.uint8)
        return svg.indexed_png(codes, [f"#{code:02X}{code:02X}{code:02X}" for code in range(256)])


def _lit(x: float, y: float, w: float, h: float, opacity: float) -> str:
    place = f'x="{svg.number(x)}" y="{svg.number(y)}" width="{svg.number(w)}" height="{svg.number(h)}"'
    return f'<rect {place} fill="{GLOW}" fill-opacity="{opacity:.3f}"/>'
