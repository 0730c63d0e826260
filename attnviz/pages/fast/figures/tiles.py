"""A tile at work as a drawing for files: the matrix of scores, what its lines keep, what lies in fast memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.figures import svg
from attnviz.figures.theme import MASKED, SCORES, SCORES_ON_DARK, mixed, ramp

SIDE, LEFT, TOP, BAR = 380, 34, 58, 24


@dataclass(frozen=True, eq=False)
class TilePicture:
    """The tile `tiles[at]` of `tokens` x `tokens` scores in blocks (queries, keys), its `shades` (-1 to 1) in colour.

    `kept` are two names, each with a value for every line by now, NaN where there is none yet: of queries, and of keys
    where `across`. `said` are lines beside the picture: what lies in which memory.
    """

    tokens: int
    blocks: tuple[int, int]
    tiles: np.ndarray  #: (steps, 2)
    at: int
    shades: np.ndarray  #: (q, k), NaN where masked
    kept: Sequence[tuple[str, np.ndarray]]
    across: bool
    said: Sequence[str]
    title: str = ""

    def drawn(self, ink: svg.Ink, bar: bool = True) -> svg.Drawn:
        """The picture without title and caption; colours are centred on 0."""
        parts = [svg.box(LEFT, TOP, SIDE, SIDE, fill="url(#masked)"), *self._tiles(ink)]
        queries, keys = (self._stretch(side) for side in (0, 1))
        stops = SCORES_ON_DARK if ink.dark else SCORES
        codes = np.where(np.isnan(self.shades), 255, np.rint(127 + 127 * self.shades)).astype(np.uint8)
        place = (LEFT + keys[0], TOP + queries[0], keys[1], queries[1])
        parts.append(svg.box(*place, fill=ink.ground) + svg.box(*place, fill="url(#masked)"))
        parts.append(svg.pixels(svg.indexed_png(codes, ramp(stops), 255), *place))
        parts.append(svg.box(*place, stroke=ink.text, width=2))
        for name, colour, y in (("V", ink.v, 6), ("K", ink.k, 22)):
            parts.append(svg.words(name, LEFT - 8, y + 5, fill=colour, weight=600, anchor="end"))
            parts.append(svg.box(LEFT, y, SIDE, 11, fill=colour, opacity=0.22))
            parts.append(svg.box(LEFT + keys[0], y, keys[1], 11, fill=colour))
        parts.append(svg.words("Q", 16, TOP - 10, fill=ink.q, weight=600, anchor="middle"))
        parts.append(svg.box(10, TOP, 11, SIDE, fill=ink.q, opacity=0.22))
        parts.append(svg.box(10, TOP + queries[0], 11, queries[1], fill=ink.q))
        for number, (name, values) in enumerate(self.kept):
            parts += self._kept(name, values, SIDE + 8 + number * (BAR + 8), ink)
        x = LEFT + SIDE + (20 if self.across else 2 * (BAR + 8) + 20)
        for number, line in enumerate(self.said):
            parts.append(svg.words(line, x, TOP + 10 + 20 * number))
        width = x + max((svg.text_width(line, 12) for line in self.said), default=0)
        return svg.Drawn(width, TOP + SIDE + (2 * (BAR + 8) if self.across else 6), parts)

    def _stretch(self, side: int) -> tuple[float, float]:
        """Where the tile begins along a side, and how far it goes."""
        block, each = self.blocks[side], SIDE / self.tokens
        start = int(self.tiles[self.at][side]) * block
        return start * each, min(block, self.tokens - start) * each

    def _tiles(self, ink: svg.Ink) -> list[str]:
        """Tiles that are done and gone, and tiles to come."""
        rows, cols = (-(-self.tokens // block) for block in self.blocks)
        states = np.full((rows, cols), 2, np.uint8)
        states[tuple(self.tiles[self.at :].T)], states[tuple(self.tiles[: self.at].T)] = 1, 0
        colours = [mixed(ink.ground, ink.text, 0.22), mixed(ink.ground, ink.text, 0.05), MASKED]
        tall, wide = (block * SIDE / self.tokens for block in self.blocks)
        image = svg.pixels(svg.indexed_png(states, colours, 2), LEFT, TOP, cols * wide, rows * tall)
        across = [svg.line(LEFT, y, LEFT + SIDE, y, stroke=ink.ground) for y in TOP + tall * np.arange(1, rows)]
        down = [svg.line(x, TOP, x, TOP + SIDE, stroke=ink.ground) for x in LEFT + wide * np.arange(1, cols)]
        clip = f'<clipPath id="matrix"><rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}"/></clipPath>'
        return [clip, f'<g clip-path="url(#matrix)">{image}</g>', *across, *down]

    def _kept(self, name: str, values: np.ndarray, at: float, ink: svg.Ink) -> list[str]:
        """What lines keep: darker is more, from the lowest of them to the highest; nothing where there is none yet."""
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        codes = np.nan_to_num(20 + 234 * (values - low) / ((high - low) or 1.0)).astype(np.uint8)
        png = svg.indexed_png(codes[None] if self.across else codes[:, None], ramp([(0, ink.ground), (1, ink.text)]))
        place = (LEFT, TOP + at, SIDE, BAR) if self.across else (LEFT + at, TOP, BAR, SIDE)
        words = (LEFT - 8, TOP + at + BAR / 2) if self.across else (LEFT + at + BAR / 2, TOP - 10)
        return [svg.words(name, *words, anchor="end" if self.across else "middle"), svg.pixels(png, *place)]
