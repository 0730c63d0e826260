"""One head as the screen shows it: as a matrix with its bar below, and as lines from queries to keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures import svg
from attnviz.figures.svg import Anchor, Drawn, Ink, text_width
from attnviz.figures.svg_grid import EVERY_LABEL, LONGEST_LABEL, ColourScale, Grid
from attnviz.figures.theme import HEADS, SCORES, SCORES_ON_DARK, colours_of, text_on

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
    kind: Literal["weights", "values", "diff", "scores"] = "weights"
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
        top = self.top or (1.0 if self.kind in ("weights", "diff") and self.full_range else largest)
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
    text = f"{Rounded(value):.0f}" if abs(value) >= 100 else f"{Rounded(value):.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


MOST_LINES, LEVELS = 4000, 24
WEAKEST = 0.006  # share of the scale: a weaker line is not drawn
WIDE = 380  # pixels between the two columns of tokens
FADED = 0.18
LEGEND = 26  # pixels that the names of several heads take


@dataclass(frozen=True)
class LinesPicture:
    """`weights` (Q, K), NaN where masked; with pins their lines stand out and the others fade.

    `top` is the weight of the boldest line, `root` draws by the square root of a weight, `signed` in two colours.
    `others` are further heads of the layer, by number, laid over head `head`: each then has one colour and is named.
    """

    weights: np.ndarray
    rows: Sequence[str]
    cols: Sequence[str]
    pinned_rows: Sequence[int] = ()
    pinned_cols: Sequence[int] = ()
    title: str = ""
    top: float = 1.0
    root: bool = False
    signed: bool = False
    head: int = 0
    others: Mapping[int, np.ndarray] = field(default_factory=dict)

    @cached_property
    def colours(self) -> dict[int, int]:
        """Each head's place among the heads' colours; nothing where there is only one."""
        return colours_of([self.head, *self.others]) if self.others else {}

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption; it has no bar."""
        most = max(len(self.rows), len(self.cols))
        pitch = 24 if most <= 40 else 14 if most <= EVERY_LABEL else 1200 / most
        size = 12 if pitch >= 16 else 10
        columns = [[svg.cut(svg.visible(t), LONGEST_LABEL, size) for t in side] for side in (self.rows, self.cols)]
        left, right = (
            max([text_width(head, 12), *(text_width(t, size) for t in side)]) + 14
            for head, side in zip((_("Queries"), _("Keys")), columns, strict=True)
        )
        high = [pitch * most / max(1, len(side)) for side in columns]
        top = 26.0
        lit = np.zeros(np.shape(self.weights), bool)
        lit[list(self.pinned_rows), :] = True
        lit[:, list(self.pinned_cols)] = True
        base = self._curves(None, ink, left, top, high, 0.12 if ink.dark else 0.06)
        parts = [self._gradient(ink, left), f'<g opacity="{FADED}">{base}</g>' if lit.any() else base]
        if lit.any():
            parts.append(self._curves(lit, ink, left, top, high, 0.25))
        parts += self._column(columns[0], "q", left - 6, top, high[0], size, ink)
        parts += self._column(columns[1], "k", left + WIDE + 6, top, high[1], size, ink)
        tall = top + max(high[0] * len(self.rows), high[1] * len(self.cols)) + 6
        parts += self._legend(ink, left, tall + LEGEND / 2)
        return Drawn(left + WIDE + right, tall + (LEGEND if self.others else 0), parts)

    def _legend(self, ink: Ink, x: float, y: float) -> list[str]:
        """A square of its colour and the number of each head."""
        parts = []
        for head, place in sorted(self.colours.items()):
            name = _("head {head}").format(head=head)
            parts.append(svg.box(x, y - 6, 12, 12, fill=HEADS[place][ink.dark], radius=3))
            parts.append(svg.words(name, x + 17, y, size=12))
            x += 17 + text_width(name, 12) + 14
        return parts

    @staticmethod
    def _gradient(ink: Ink, left: float) -> str:
        ends = f'gradientUnits="userSpaceOnUse" x1="{svg.number(left)}" x2="{svg.number(left + WIDE)}"'
        stops = f'<stop offset="0.1" stop-color="{ink.q}"/><stop offset="0.9" stop-color="{ink.k}"/>'
        return f'<defs><linearGradient id="q-to-k" {ends}>{stops}</linearGradient></defs>'

    def _curves(
        self, lit: np.ndarray | None, ink: Ink, left: float, top: float, high: list[float], faintest: float
    ) -> str:
        """The strongest lines, of lit tokens or of all, one path for each level and head, the weakest first."""
        least = 0.08 if self.root and lit is not None else WEAKEST
        heads = {self.head: np.asarray(self.weights)} | dict(self.others)
        by_level: list[list[str]] = [[] for _level in range(LEVELS)]
        for at, (head, weights) in enumerate(heads.items()):
            share = np.minimum(1.0, np.abs(np.nan_to_num(np.asarray(weights, np.float64))) / (self.top or 1.0))
            strength = np.sqrt(share) if self.root else share  # (Q, K) how bold each line is, 0 where masked
            cells = np.flatnonzero((strength >= least) & (True if lit is None else lit))
            cells = cells[np.argsort(-strength.flat[cells], kind="stable")[: MOST_LINES // len(heads)]]
            levels = np.minimum(LEVELS - 1, (strength.flat[cells] * LEVELS).astype(int))
            aside = top + (at - (len(heads) - 1) / 2) * min(2.5, min(high) / (len(heads) + 2))
            for level in np.unique(levels):
                bold = (level + 0.5) / LEVELS
                opacity, width = faintest + (1 - faintest) * bold * 0.95, 0.75 + 2.75 * bold
                for colour, among in self._inks(head, weights.flat[cells], ink):
                    places = (divmod(int(cell), strength.shape[1]) for cell in cells[(levels == level) & among])
                    d = "".join(self._curve(q, k, left, aside, high) for q, k in places)
                    look = f'stroke="{colour}" stroke-opacity="{opacity:.3f}" stroke-width="{width:.2f}"'
                    by_level[level] += [f'<path d="{d}" {look}/>'] if d else []
        return f'<g fill="none">{"".join(path for paths in by_level for path in paths)}</g>'

    def _inks(self, head: int, values: np.ndarray, ink: Ink) -> list[tuple[str, np.ndarray]]:
        """The colours of a head's lines, and which of them have each."""
        every = np.ones(len(values), bool)
        if head in self.colours:
            return [(HEADS[self.colours[head]][ink.dark], every)]
        if not self.signed:
            return [("url(#q-to-k)", every)]
        stops = SCORES_ON_DARK if ink.dark else SCORES
        return [(stops[3][1], values > 0), (stops[1][1], values <= 0)]

    @staticmethod
    def _curve(q: int, k: int, left: float, top: float, high: list[float]) -> str:
        right, bend = left + WIDE, WIDE * 0.4
        start, end = svg.number(top + (q + 0.5) * high[0]), svg.number(top + (k + 0.5) * high[1])
        a, b, c, d = (svg.number(x) for x in (left + 3, left + 3 + bend, right - 3 - bend, right - 3))
        if start == end:  # a flat path has a bounding box of height 0, in which some readers draw no gradient
            end = svg.number(float(end) + 0.01)
        return f"M{a} {start}C{b} {start} {c} {end} {d} {end}"

    def _column(
        self, texts: list[str], axis: str, x: float, top: float, pitch: float, size: float, ink: Ink
    ) -> list[str]:
        anchor: Anchor = "end" if axis == "q" else "start"
        heading, colour, pinned = (
            (_("Queries"), ink.q, self.pinned_rows) if axis == "q" else (_("Keys"), ink.k, self.pinned_cols)
        )
        parts = [svg.words(heading, x, top - 14, fill=colour, weight=600, anchor=anchor)]
        step = svg.label_step(pitch, size)
        for at, text in enumerate(texts):
            y = top + (at + 0.5) * pitch
            if at in pinned:
                parts.append(svg.pill(text, x, y, size=size, colour=colour, ground=ink.ground, anchor=anchor))
            elif at % step == 0:
                parts.append(svg.words(text, x, y, size=size, anchor=anchor))
        return parts
