"""Token lines as the screen shows them: queries on the left, keys on the right, a curve a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.figures import svg
from attnviz.figures.svg import Drawn, Ink, text_width
from attnviz.figures.svg_grid import EVERY_LABEL, LONGEST_LABEL
from attnviz.figures.theme import SCORES
from attnviz.words import _

MOST_LINES, LEVELS = 4000, 24
WEAKEST = 0.006  # share of the scale: a weaker line is not drawn
WIDE = 380  # pixels between the two columns of tokens
FADED = 0.18


@dataclass(frozen=True)
class LinesPicture:
    """`weights` (Q, K), NaN where masked; with pins their lines stand out and the others fade.

    `top` is the weight of the boldest line, `root` draws by the square root of a weight, `signed` in two colours.
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

    @cached_property
    def strength(self) -> np.ndarray:
        """(Q, K) how bold each line is, 0 to 1; 0 where masked."""
        share = np.minimum(1.0, np.abs(np.nan_to_num(np.asarray(self.weights, np.float64))) / (self.top or 1.0))
        return np.sqrt(share) if self.root else share

    @cached_property
    def _pitch(self) -> float:
        most = max(len(self.rows), len(self.cols))
        return 24 if most <= 40 else 14 if most <= EVERY_LABEL else 1200 / most

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption; it has no bar."""
        size = 12 if self._pitch >= 16 else 10
        columns = [[svg.cut(svg.visible(t), LONGEST_LABEL, size) for t in side] for side in (self.rows, self.cols)]
        left, right = (
            max([text_width(head, 12), *(text_width(t, size) for t in side)]) + 14
            for head, side in zip((_("Queries"), _("Keys")), columns, strict=True)
        )
        high = [self._pitch * max(len(self.rows), len(self.cols)) / max(1, len(side)) for side in columns]
        x0, x1, top = left, left + WIDE, 26.0
        lit = self._lit()
        base = self._curves(self.strength >= WEAKEST, x0, x1, top, high, 0.12 if ink.dark else 0.06)
        parts = [self._gradient(ink, x0, x1), f'<g opacity="{FADED}">{base}</g>' if lit.any() else base]
        if lit.any():
            least = 0.08 if self.root else WEAKEST
            parts.append(self._curves(lit & (self.strength >= least), x0, x1, top, high, 0.25))
        for side, axis, x in ((columns[0], "q", x0 - 6), (columns[1], "k", x1 + 6)):
            parts += self._column(side, axis, x, top, high[0 if axis == "q" else 1], size, ink)
        tall = top + max(high[0] * len(self.rows), high[1] * len(self.cols)) + 6
        return Drawn(x1 + right, tall, parts)

    def _lit(self) -> np.ndarray:
        lit = np.zeros(self.strength.shape, bool)
        lit[list(self.pinned_rows), :] = True
        lit[:, list(self.pinned_cols)] = True
        return lit

    @staticmethod
    def _gradient(ink: Ink, x0: float, x1: float) -> str:
        ends = f'gradientUnits="userSpaceOnUse" x1="{svg.number(x0)}" x2="{svg.number(x1)}"'
        stops = f'<stop offset="0.1" stop-color="{ink.q}"/><stop offset="0.9" stop-color="{ink.k}"/>'
        return f'<defs><linearGradient id="q-to-k" {ends}>{stops}</linearGradient></defs>'

    def _curves(self, wanted: np.ndarray, x0: float, x1: float, top: float, high: list[float], faintest: float) -> str:
        """The strongest of the wanted lines, one path for each level of strength, the weakest first."""
        cells = np.flatnonzero(wanted)
        order = np.argsort(-self.strength.flat[cells], kind="stable")[:MOST_LINES]
        cells = cells[order]
        levels = np.minimum(LEVELS - 1, (self.strength.flat[cells] * LEVELS).astype(int))
        inks = [("url(#q-to-k)", np.ones(len(cells), bool))]
        if self.signed:
            positive = np.asarray(self.weights).flat[cells] > 0
            inks = [(SCORES[3][1], positive), (SCORES[1][1], ~positive)]
        parts = []
        for level in range(LEVELS):
            share = (level + 0.5) / LEVELS
            opacity, width = faintest + (1 - faintest) * share * 0.95, 0.75 + 2.75 * share
            for colour, among in inks:
                places = (divmod(int(cell), self.strength.shape[1]) for cell in cells[(levels == level) & among])
                d = "".join(self._curve(q, k, x0, x1, top, high) for q, k in places)
                look = f'stroke="{colour}" stroke-opacity="{opacity:.3f}" stroke-width="{width:.2f}"'
                parts += [f'<path d="{d}" {look}/>'] if d else []
        return f'<g fill="none">{"".join(parts)}</g>'

    @staticmethod
    def _curve(q: int, k: int, x0: float, x1: float, top: float, high: list[float]) -> str:
        bend = (x1 - x0) * 0.4
        start, end = svg.number(top + (q + 0.5) * high[0]), svg.number(top + (k + 0.5) * high[1])
        a, b, c, d = (svg.number(x) for x in (x0 + 3, x0 + 3 + bend, x1 - 3 - bend, x1 - 3))
        if start == end:  # a flat path has a bounding box of height 0, in which some readers draw no gradient
            end = svg.number(float(end) + 0.01)
        return f"M{a} {start}C{b} {start} {c} {end} {d} {end}"

    def _column(
        self, texts: list[str], axis: str, x: float, top: float, pitch: float, size: float, ink: Ink
    ) -> list[str]:
        colour, anchor = (ink.q, "end") if axis == "q" else (ink.k, "start")
        pinned = set(self.pinned_rows if axis == "q" else self.pinned_cols)
        heading = _("Queries") if axis == "q" else _("Keys")
        parts = [svg.words(heading, x, top - 14, fill=colour, weight=600, anchor=anchor)]  # type: ignore[arg-type]
        step = svg.label_step(pitch, size)
        for at, text in enumerate(texts):
            y = top + (at + 0.5) * pitch
            if at in pinned:
                look = {"size": size, "colour": colour, "ground": ink.ground, "anchor": anchor}
                parts.append(svg.pill(text, x, y, **look))  # type: ignore[arg-type]
            elif at % step == 0:
                parts.append(svg.words(text, x, y, size=size, anchor=anchor))  # type: ignore[arg-type]
        return parts
