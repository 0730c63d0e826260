"""A tile at work as a drawing for files: the matrix of scores, what its lines keep, what lies in fast memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.figures import svg
from attnviz.figures.theme import MASKED, SCORES, SCORES_ON_DARK, mixed, ramp

SIDE, LEFT, TOP, BAR, STRIP = 380, 34, 58, 24, 11


@dataclass(frozen=True, eq=False)
class TilePicture:
    """The tile `at` of a film, whose cells are in colour; `said` are lines beside it: what lies in which memory."""

    told: Mapping[str, Any]  #: the film's tokens, blocks, tiles and direction
    at: int
    shades: np.ndarray  #: (T, T), from -1 to 1, NaN where masked
    kept: Mapping[str, np.ndarray]  #: numbers of each line by now, NaN where it has none yet; lines are keys backward
    said: Sequence[str]
    title: str = ""

    def drawn(self, ink: svg.Ink, bar: bool = True) -> svg.Drawn:
        """The picture without title and caption; colours are centred on 0."""
        each, across = SIDE / self.told["tokens"], self.told["backward"]
        rows, cols = (
            slice(start, min(start + block, self.told["tokens"]))
            for start, block in zip(self._starts()[self.at], self.told["blocks"], strict=True)
        )
        (y, tall), (x, wide) = ((side.start * each, (side.stop - side.start) * each) for side in (rows, cols))
        place = (LEFT + x, TOP + y, wide, tall)
        codes = np.nan_to_num(np.rint(127 + 127 * self.shades[rows, cols]), nan=255).astype(np.uint8)
        png = svg.indexed_png(codes, ramp(SCORES_ON_DARK if ink.dark else SCORES), 255)
        parts = [
            svg.box(LEFT, TOP, SIDE, SIDE, fill="url(#masked)"),
            *self._tiles(ink),
            svg.box(*place, fill=ink.ground) + svg.box(*place, fill="url(#masked)"),
            svg.pixels(png, *place),
            svg.box(*place, stroke=ink.text, width=2),
            svg.words("Q", 10 + STRIP / 2, TOP - 10, fill=ink.q, weight=600, anchor="middle"),
            svg.box(10, TOP, STRIP, SIDE, fill=ink.q, opacity=0.22) + svg.box(10, TOP + y, STRIP, tall, fill=ink.q),
        ]
        for name, colour, top in (("V", ink.v, 6), ("K", ink.k, 22)):
            parts.append(svg.words(name, LEFT - 8, top + 5, fill=colour, weight=600, anchor="end"))
            parts.append(svg.box(LEFT, top, SIDE, STRIP, fill=colour, opacity=0.22))
            parts.append(svg.box(LEFT + x, top, wide, STRIP, fill=colour))
        for number, name in enumerate(self.kept):
            parts += self._kept(name, SIDE + 8 + number * (BAR + 8), ink)
        beside, below = (0, 2 * (BAR + 8)) if across else (2 * (BAR + 8), 6)
        left = LEFT + SIDE + beside + 20
        parts += [svg.words(line, left, TOP + 10 + 20 * number) for number, line in enumerate(self.said)]
        width = left + max((svg.text_width(line, 12) for line in self.said), default=0)
        return svg.Drawn(width, TOP + SIDE + below, parts)

    def _starts(self) -> np.ndarray:
        """The first query and the first key of each tile, (steps, 2)."""
        return np.array(self.told["tiles"]) * self.told["blocks"]

    def _tiles(self, ink: svg.Ink) -> list[str]:
        """Tiles that are done and gone, and tiles to come."""
        tokens, (tall, wide) = self.told["tokens"], self.told["blocks"]
        states = np.full((tokens, tokens), 2, np.uint8)
        for step, (row, col) in enumerate(self._starts()):
            states[row : row + tall, col : col + wide] = step >= self.at
        colours = [mixed(ink.ground, ink.text, 0.22), mixed(ink.ground, ink.text, 0.05), MASKED]
        ends = [[SIDE / tokens * place for place in range(block, tokens, block)] for block in (tall, wide)]
        return [
            svg.pixels(svg.indexed_png(states, colours, 2), LEFT, TOP, SIDE, SIDE),
            *(svg.line(LEFT, TOP + y, LEFT + SIDE, TOP + y, stroke=ink.ground) for y in ends[0]),
            *(svg.line(LEFT + x, TOP, LEFT + x, TOP + SIDE, stroke=ink.ground) for x in ends[1]),
        ]

    def _kept(self, name: str, at: float, ink: svg.Ink) -> list[str]:
        """What lines keep: darker is more, from the lowest of them to the highest; nothing where there is none yet."""
        values, across = self.kept[name], self.told["backward"]
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        codes = np.nan_to_num(20 + 234 * (values - low) / ((high - low) or 1.0)).astype(np.uint8)
        png = svg.indexed_png(codes[None] if across else codes[:, None], ramp([(0, ink.ground), (1, ink.text)]))
        place = (LEFT, TOP + at, SIDE, BAR) if across else (LEFT + at, TOP, BAR, SIDE)
        words = (LEFT - 8, TOP + at + BAR / 2) if across else (LEFT + at + BAR / 2, TOP - 10)
        return [svg.words(name, *words, anchor="end" if across else "middle"), svg.pixels(png, *place)]
