"""A picture with a head's row over it as discs, as the screen shows it: one picture, or several side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures import svg

DISC, RIM = "#FFA614", "#241A05"  #: these four are the browser's, in canvas/patch_view/patch_drawing.js
LEFT, FLOOR = 0.62, 30.0
SMALLEST = 0.4  #: radius in pixels; a smaller disc would not be seen
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

    `top` is the weight whose disc fills its patch; None = of each row its own largest. A disc's area is the weight.
    Patches that are `hidden` are covered.
    """

    pixels: np.ndarray
    grid: tuple[int, int]
    lit: Sequence[LitRow]
    hidden: Sequence[int] = ()
    top: float | None = None
    title: str = ""
    side: float = SIDE

    def drawn(self, ink: svg.Ink, bar: bool = True) -> svg.Drawn:
        """The picture without title and caption; `bar` says what the largest disc is."""
        height, width = self.pixels.shape[:2]
        times = self.side / max(height, width)
        w, h = width * times, height * times
        parts: list[str] = []
        for place, row in enumerate(self.lit):
            parts += self._one(row, place * (w + GAP), w, h, ink, bar)
        return svg.Drawn(len(self.lit) * (w + GAP) - GAP, h + (40.0 if bar else 22.0), parts)

    def _one(self, row: LitRow, x: float, w: float, h: float, ink: svg.Ink, bar: bool) -> list[str]:
        rows, columns = self.grid
        cell_w, cell_h = w / columns, h / rows
        top = self.top or float(row.weights.max(initial=0)) or 1.0
        radii = np.sqrt(np.clip(row.weights / top, 0, 1)) * min(cell_w, cell_h) / 2
        parts = [svg.pixels(svg.rgb_png(self.dimmed()), x, 0, w, h, smooth=max(self.pixels.shape[:2]) > SMALL)]
        for patch in np.flatnonzero(radii >= SMALLEST).tolist():
            r = float(radii[patch])
            middle = x + (patch % columns + 0.5) * cell_w, (patch // columns + 0.5) * cell_h
            parts.append(svg.box(middle[0] - r, middle[1] - r, 2 * r, 2 * r, fill=DISC, stroke=RIM, radius=r))
        for patch in self.hidden:
            place = (x + patch % columns * cell_w, patch // columns * cell_h, cell_w, cell_h)
            parts.append(svg.box(*place, fill="#8A8F98"))
        if row.at is not None:
            place = (x + row.at % columns * cell_w, row.at // columns * cell_h, cell_w, cell_h)
            parts += [svg.box(*place, stroke="#FFFFFF", width=4), svg.box(*place, stroke=ink.q, width=2)]
        parts.append(svg.words(svg.cut(row.name, w, 12), x, h + 14, size=12))
        if bar:
            parts.append(
                svg.words(
                    _("The largest disc: {share}").format(share=f"{Rounded(top):.1%}"), x, h + 31, size=11, opacity=0.8
                )
            )
        return parts

    def dimmed(self) -> np.ndarray:
        """The picture without its colours and a little darker, (height, width, 3)."""
        grey = FLOOR + LEFT * (self.pixels @ np.array([0.299, 0.587, 0.114]))
        return np.repeat(np.rint(grey)[..., None], 3, axis=2).astype(np.uint8)
