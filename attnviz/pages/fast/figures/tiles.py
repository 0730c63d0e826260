"""A tile at work as a drawing for files: the matrix of scores, what its lines keep, what lies in fast memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.figures import svg
from attnviz.figures.theme import MASKED, SCORES, SCORES_ON_DARK, mixed, ramp

SIDE, LEFT, TOP, BAR = 380, 34, 58, 34


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
            parts += self._bars(name, values, number, ink)
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
        states[tuple(self.tiles[self.at :].T)] = 1
        states[tuple(self.tiles[: self.at].T)] = 0
        colours = [mixed(ink.ground, ink.text, 0.22), mixed(ink.ground, ink.text, 0.05), MASKED]
        each = SIDE / self.tokens
        whole = (cols * self.blocks[1] * each, rows * self.blocks[0] * each)
        image = svg.pixels(svg.indexed_png(states, colours, 2), LEFT, TOP, *whole)
        lines = [
            svg.line(*ends, stroke=ink.ground)
            for n in range(1, max(rows, cols))
            for ends, block in (
                ((LEFT, TOP + n * self.blocks[0] * each, LEFT + SIDE, TOP + n * self.blocks[0] * each), self.blocks[0]),
                ((LEFT + n * self.blocks[1] * each, TOP, LEFT + n * self.blocks[1] * each, TOP + SIDE), self.blocks[1]),
            )
            if n * block < self.tokens
        ]
        clip = f'<clipPath id="matrix"><rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}"/></clipPath>'
        return [clip, f'<g clip-path="url(#matrix)">{image}</g>', *lines]

    def _bars(self, name: str, values: np.ndarray, number: int, ink: svg.Ink) -> list[str]:
        """What lines keep: as many bars as there is room for, each of the largest of the lines under it."""
        start = LEFT + SIDE + 8 + number * (BAR + 8)
        groups = np.array_split(values, min(self.tokens, 190))
        shown = np.array([np.nanmax(group) if np.isfinite(group).any() else np.nan for group in groups])
        low = min(0.0, float(np.nanmin(shown)))
        shares = np.nan_to_num((shown - low) / ((np.nanmax(shown) - low) or 1.0))
        thick, start_down = SIDE / len(shares), TOP + SIDE + 8 + number * (BAR + 8)
        if self.across:
            parts = [svg.words(name, LEFT - 8, start_down + BAR / 2, anchor="end")]
            for n, share in enumerate(shares):
                place = (LEFT + n * thick, start_down + BAR * (1 - share), max(0.6, thick - 0.6), BAR * share)
                parts.append(svg.box(*place, fill=ink.text, opacity=0.6))
            return parts
        parts = [svg.words(name, start + BAR / 2, TOP - 10, anchor="middle")]
        for n, share in enumerate(shares):
            place = (start, TOP + n * thick, BAR * share, max(0.6, thick - 0.6))
            parts.append(svg.box(*place, fill=ink.text, opacity=0.6))
        return parts
