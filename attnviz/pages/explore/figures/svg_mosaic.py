"""All heads of a model as one picture, as the screen shows them: layers, heads, who shares keys and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.base.words import _
from attnviz.figures import svg
from attnviz.figures.svg import Drawn, Ink
from attnviz.figures.svg_grid import ColourScale
from attnviz.figures.theme import MASKED, mixed

GAP, GROUP_GAP, EDGE, HEAD = 3, 8, 56, 46


@dataclass(frozen=True)
class MosaicPicture:
    """`thumbnails` (N, q, k) from 0 to 1, NaN where masked, layer by layer; `heads` of each layer, adding up to N.

    `kv_heads` of each layer: heads that share keys and values stand together. `chosen`: the (layer, head) on show.
    """

    thumbnails: np.ndarray
    heads: Sequence[int]
    kv_heads: Sequence[int] = ()
    chosen: tuple[int, int] | None = None
    title: str = ""
    root: bool = True

    @cached_property
    def _sharing(self) -> int:
        """How many heads share keys and values, where all layers are alike; else 1."""
        kv = self.kv_heads or self.heads
        sizes = {round(n / max(1, g)) for n, g in zip(self.heads, kv, strict=True)}
        return sizes.pop() if len(sizes) == 1 and len(set(self.heads)) == 1 else 1

    @cached_property
    def _sides(self) -> tuple[float, float]:
        """Width and height of a tile."""
        aspect = float(np.clip(self.thumbnails.shape[2] / self.thumbnails.shape[1], 0.5, 2))
        high = float(np.clip(1300 / len(self.heads), 40, 84))
        return high * aspect, high

    def _place(self, layer: int, head: int) -> tuple[float, float]:
        wide, high = self._sides
        groups = head // self._sharing if self._sharing > 1 else 0
        return EDGE + head * (wide + GAP) + groups * GROUP_GAP, HEAD + layer * (high + GAP)

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption."""
        (wide, high), scale = self._sides, ColourScale(root=self.root, unit=_("weight"))
        grey, palette = mixed(ink.ground, MASKED, 0.45), scale.palette(ink)
        most = max(self.heads)
        parts = [
            *self._words(ink),
            self._board([*(palette[round(i * 255 / 253)] for i in range(254)), grey, "#000000"], scale),
        ]
        if self.chosen is not None:
            x, y = self._place(*self.chosen)
            parts += [
                svg.box(x - 1, y - 1, wide + 2, high + 2, stroke=ink.ground, width=5),
                svg.box(x - 1, y - 1, wide + 2, high + 2, stroke=ink.text, width=2.5),
            ]
        width, height = self._place(0, most - 1)[0] + wide + 10, self._place(len(self.heads), 0)[1] + 4
        if bar:
            drawn, end = scale.bar(EDGE, height + 8, ink, False)
            if np.isnan(self.thumbnails).any():
                drawn += [svg.box(end, height + 8, 14, 10, fill=grey), svg.words(_("masked"), end + 20, height + 13)]
                end += 26 + svg.text_width(_("masked"), 12)
            parts, width, height = parts + drawn, max(width, end), height + 38
        return Drawn(width, height, parts)

    def _board(self, palette: list[str], scale: ColourScale) -> str:
        """All tiles as one picture, two pixels for each of the page's, with nothing in the gaps."""
        wide, high = (round(2 * side) for side in self._sides)
        last = self._place(len(self.heads) - 1, max(self.heads) - 1)
        board = np.full((round(2 * (last[1] - HEAD)) + high, round(2 * (last[0] - EDGE)) + wide), 255, np.uint8)
        seen = np.where(np.isnan(self.thumbnails), 0, self.thumbnails)
        codes = np.where(np.isnan(self.thumbnails), 254, np.rint(scale.place(seen) * 253)).astype(np.uint8)
        rows, cols = (np.arange(n) * m // n for n, m in ((high, codes.shape[1]), (wide, codes.shape[2])))
        places = [(layer, head) for layer, count in enumerate(self.heads) for head in range(count)]
        for (layer, head), tile in zip(places, codes, strict=True):
            x, y = self._place(layer, head)
            top, left = round(2 * (y - HEAD)), round(2 * (x - EDGE))
            board[top : top + high, left : left + wide] = tile[rows][:, cols]
        png = svg.indexed_png(board, palette, clear=255)
        return svg.pixels(png, EDGE, HEAD, board.shape[1] / 2, board.shape[0] / 2)

    def _words(self, ink: Ink) -> list[str]:
        wide, high = self._sides
        most, sharing = max(self.heads), self._sharing
        parts = [
            svg.words(f"{_('head')} →", EDGE, 8, size=11, opacity=0.7),
            svg.words(f"{_('layer')} →", 8, HEAD, size=11, opacity=0.7, turn=90),
        ]
        for head in range(0, most, svg.label_step(wide + GAP, 20)):
            x = self._place(0, head)[0] + wide / 2
            parts.append(svg.words(str(head), x, 24 if sharing > 1 else 32, size=12, anchor="middle", opacity=0.8))
        for layer in range(0, len(self.heads), svg.label_step(high + GAP, 14)):
            y = self._place(layer, 0)[1] + high / 2
            parts.append(svg.words(str(layer), EDGE - 9, y, size=12, anchor="end", opacity=0.8))
        for head in range(0, most if sharing > 1 else 0, sharing):
            x0, x1 = self._place(0, head)[0], self._place(0, min(most, head + sharing) - 1)[0] + wide
            d = f"M{svg.number(x0 + 1)} 41v-4H{svg.number(x1 - 1)}v4"
            parts.append(f'<path d="{d}" fill="none" stroke="{ink.k}" stroke-width="2" stroke-linecap="round"/>')
        return parts
