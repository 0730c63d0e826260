"""The board as a picture for a file: the sheets of one operation with its signs, and a sum written out."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.canvas.tensor_strip import StripBoard, StripSheet
from attnviz.figures import svg
from attnviz.figures.svg import Drawn, Ink, text_width
from attnviz.figures.theme import ROLES, WEIGHTS, colour_at, mixed, text_on

CELL_HIGH, GAP, HEAD_GAP, CAPTION, HEADER = 30, 2, 12, 26, 20
SIZE = 13.5
WIDEST = 1500  # pixels before the next sheet goes below the first


@dataclass(frozen=True)
class Term:
    """A part of the sum: its text, what the number is ("" for a sign), and whether it is an exponent of e."""

    text: str
    role: str = ""
    power: bool = False


@dataclass(frozen=True)
class BoardPicture:
    """`sheets` with `signs` between them; `lit` is a number of the last, `areas` what it was computed from.

    An area is (sheet, first row, end row, first column, end column). `terms` is the sum under the sheets.
    """

    sheets: Sequence[StripSheet]
    signs: Sequence[str]
    lit: tuple[int, int] | None = None
    areas: Sequence[Sequence[int]] = ()
    terms: Sequence[Term] = ()
    title: str = ""

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn:
        """The picture without title and caption; `bar` is the sum below."""
        parts: list[str] = []
        x, y, tall, wide = 8.0, 4.0, 0.0, 0.0
        for at, sheet in enumerate(self.sheets):
            box = _Sheet(sheet)
            if x > 8 and x + box.width > WIDEST:
                x, y, tall = 8.0, y + tall + 18, 0.0
            last = at == len(self.sheets) - 1
            parts += box.drawn(x, y, ink, [area for of, *area in self.areas if of == at], self.lit if last else None)
            tall = max(tall, box.height)
            x += box.width + 10
            wide = max(wide, x)
            if not last:
                sign = self.signs[at]
                parts.append(svg.words(sign, x + 10, y + CAPTION + HEADER + 40, size=22, anchor="middle", opacity=0.8))
                x += 34
        y += tall + 10
        if bar and self.terms:
            drawn, y = _sum(self.terms, 14, y + 10, max(wide, 420), ink)
            parts += drawn
        return Drawn(max(wide, 420 if self.terms and bar else 0) + 4, y, parts)


def picture_of(board: StripBoard, row: int, col: int, title: str) -> BoardPicture:
    """The board for a file, with the chosen number's origin and sum; a number outside it is its nearest."""
    row, col = min(row, len(board.cells) - 1), min(col, len(board.cells[0]) - 1)
    origin, result = board.cells[row][col], board.sheets[-1]
    terms = [Term(f"{result.name}[{result.rows[row]}, {result.cols[col]}]", role_of(result, col)), Term("=")]
    terms += [_term_of(token, board, col) for token in origin["t"]]
    if origin["v"] is not None:
        terms += [Term(origin["e"]), Term(origin["v"], "plain")]
    return BoardPicture(board.sheets, board.signs, (row, col), origin["a"], terms, title)


def _term_of(token: str, board: StripBoard, col: int) -> Term:
    power = token.startswith("^")
    kind, text = token[power], token[power + 1 :]
    if kind == "o":
        return Term(text)
    return Term(text, "plain" if kind == "n" else role_of(board.sheets[int(kind)], col), power)


class _Sheet:
    """One sheet with its sizes."""

    def __init__(self, sheet: StripSheet) -> None:
        self.sheet = sheet
        self.rows = [svg.cut(svg.visible(name), 90, 12) for name in sheet.rows]
        self.cols = [svg.cut(svg.visible(name), 76, 12) for name in sheet.cols]
        self.left = max([text_width(name, 12) for name in self.rows], default=0) + 8
        widest = max((text_width(text, SIZE) for row in sheet.text for text in row), default=0) + 12
        self.cell = max(46.0, widest, max((text_width(name, 12) + 8 for name in self.cols), default=0))
        body = self._x(len(self.cols) - 1) + self.cell + GAP
        self.width = max(body, text_width(sheet.name, 18) + 12 + text_width(sheet.shape, 12))
        self.height = CAPTION + HEADER + len(self.rows) * (CELL_HIGH + GAP) + 4

    def _x(self, col: int) -> float:
        return self.left + col * (self.cell + GAP) + sum(0 < line <= col for line in self.sheet.lines) * HEAD_GAP

    def drawn(
        self, x: float, y: float, ink: Ink, framed: Sequence[Sequence[int]], lit: tuple[int, int] | None
    ) -> list[str]:
        """At (x, y); `lit` is the chosen number, `framed` the areas (r0, r1, c0, c1) that it was computed from."""
        sheet = self.sheet
        parts = [
            named(sheet.name, x + 2, y + 10, 18, role_ink(sheet.role, ink)),
            svg.words(sheet.shape, x + 14 + text_width(sheet.name, 18), y + 12, opacity=0.75),
        ]
        top = y + CAPTION + HEADER
        for col, name in enumerate(self.cols):
            parts.append(svg.words(name, x + self._x(col) + self.cell / 2, top - 9, anchor="middle", opacity=0.8))
        for row, name in enumerate(self.rows):
            at = top + row * (CELL_HIGH + GAP)
            parts.append(svg.words(name, x + self.left - 6, at + CELL_HIGH / 2, anchor="end", opacity=0.8))
            for col in range(len(self.cols)):
                origin = any(r0 <= row < r1 and c0 <= col < c1 for r0, r1, c0, c1 in framed)
                frame = 3 if lit == (row, col) else 2 if origin else 0
                parts += self._cell(row, col, x + self._x(col), at, frame, ink)
        return parts

    def _cell(self, row: int, col: int, x: float, y: float, frame: int, ink: Ink) -> list[str]:
        share = self.sheet.fill[row][col]
        hidden = ("url(#masked)", ink.text)
        fill, on = hidden if share is None else tint(role_of(self.sheet, col), share, ink.ground)
        parts = [svg.box(x, y, self.cell, CELL_HIGH, fill=fill, radius=4)]
        if frame:
            half = frame / 2
            inner = (x + half, y + half, self.cell - frame, CELL_HIGH - frame)
            parts.append(svg.box(*inner, stroke=ink.text, width=frame, radius=4 - half))
        text, right, weight = self.sheet.text[row][col], x + self.cell - 6, 700 if frame == 3 else 0
        parts.append(svg.words(text, right, y + CELL_HIGH / 2, size=SIZE, fill=on, anchor="end", weight=weight))
        return parts


def role_of(sheet: StripSheet, col: int) -> str:
    """The role of a column, where columns differ in it as in packed QKV; else that of the sheet."""
    return sheet.roles[col] if sheet.roles else sheet.role


def tint(role: str, share: float, ground: str) -> tuple[str, str]:
    """The fill of a number, and the ink that is readable on it. Weights run from 0 to 1, others from -1 to 1."""
    if role == "weights":
        fill = colour_at(WEIGHTS, min(1.0, max(0.0, share)))
    else:
        negative, positive = ROLES.get(role, ROLES["plain"])
        fill = mixed(ground, negative if share < 0 else positive, 0.06 + 0.64 * min(1.0, abs(share)))
    return fill, text_on(fill)


def role_ink(role: str, ink: Ink) -> str:
    """The colour in which Q, K and V are named; everything else in the page's."""
    colour = {"q": ink.q, "k": ink.k, "v": ink.v}.get(role)
    return mixed(colour, ink.text, 0.2) if colour else ink.text


def named(name: str, x: float, y: float, size: float, colour: str) -> str:
    """A symbol in italics; "W_Q" as W with a small Q below."""
    base, _underscore, below = name.partition("_")
    under = f'<tspan font-size="{svg.number(size * 0.7)}" dy="{svg.number(size * 0.2)}">{svg.escaped(below)}</tspan>'
    look = 'font-family="Cambria Math, Georgia, serif" font-style="italic" font-weight="600" '
    look += f'font-size="{svg.number(size)}"'
    at = f'x="{svg.number(x)}" y="{svg.number(y + 0.355 * size)}" fill="{colour}"'
    return f"<text {at} {look}>{svg.escaped(base)}{under if below else ''}</text>"


def _sum(terms: Sequence[Term], x: float, y: float, width: float, ink: Ink) -> tuple[list[str], float]:
    """The sum in as many lines as it needs, and the height where it ends.

    A line is one text whose parts follow each other: only where it ends is estimated.
    """
    lines: list[list[str]] = [[]]
    taken = 0.0
    for term in terms:
        wide = text_width(term.text, 15) * (1.12 if term.role else 1) + 6
        if taken and x + taken + wide > width - 8:
            lines.append([])
            taken = 0.0
        lines[-1].append(_term(term, ink))
        taken += wide
    places = [(y + 14 + 24 * number, "".join(line)) for number, line in enumerate(lines)]
    parts = [f'<text x="{svg.number(x)}" y="{svg.number(at + 5)}" font-size="15">{line}</text>' for at, line in places]
    return parts, places[-1][0] + 18


def _term(term: Term, ink: Ink) -> str:
    """A term as part of a line, with a little room before it; an exponent or index leads back to the line's height."""
    look = f'font-weight="600" fill="{role_ink(term.role, ink)}"' if term.role else 'opacity="0.75"'
    begin = f'<tspan dx="5" {look}>'
    if term.power:
        return f"{begin}e{_shifted(term.text, -6)}</tspan>"
    base, _underscore, below = term.text.partition("_") if term.role else (term.text, "", "")
    index, bracket, rest = below.partition("[")
    return f"{begin}{svg.escaped(base)}{_shifted(index, 3) if index else ''}{svg.escaped(bracket + rest)}</tspan>"


def _shifted(text: str, down: float) -> str:
    back = f'<tspan dy="{svg.number(-down)}">\u200b</tspan>'
    return f'<tspan font-size="11" dy="{svg.number(down)}">{svg.escaped(text)}</tspan>{back}'
