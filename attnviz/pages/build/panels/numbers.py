"""What the board is sent: sheets of numbers as text and colour, and the arithmetic of a cell as coloured terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.canvas import tensor_strip as canvas
from attnviz.pages.build.figures.svg_board import BoardPicture, Term
from attnviz.pages.build.maths import cells

LETTERS = {"HD": "H·D", "GD": "G·D", "GV": "G·Dv", "HV": "H·Dv", "Dv": "Dv"}


def minus(text: str) -> str:
    """The number in `text` with a true minus sign; negative zero loses its sign."""
    if text.startswith("-"):
        return text[1:] if float(text) == 0 else "−" + text[1:]
    return text


def short(value: float, digits: int) -> str:
    """A number as it is written in a cell."""
    return "−∞" if value == -np.inf else minus(f"{value:.{digits}f}")


def exact(value: float) -> str:
    """A number in the arithmetic: one to four digits after the point, without trailing zeros."""
    if value == -np.inf:
        return "−∞"
    places = 4 if abs(value) >= 1e-3 else 6
    text = f"{value:.{places}f}".rstrip("0")
    return minus(text + "0" if text.endswith(".") else text)


def digits(values: np.ndarray) -> int:
    """Digits after the point for the cells of a sheet: one if all numbers are exact with one, else two."""
    finite = values[np.isfinite(values)]
    return 1 if np.allclose(finite, finite.round(1), atol=1e-5) else 2


def fills(values: np.ndarray, role: str) -> list[list[float | None]]:
    """Colour strengths from -1 to 1, relative to the sheet's largest number (weights unchanged); None where hidden."""
    finite = np.abs(values[np.isfinite(values)])
    top = 1.0 if role == "weights" else float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    return [[round(float(v) / top, 3) if np.isfinite(v) else None for v in row] for row in values]


def sheet(source: cells.Sheet, size: dict[str, int], label: str) -> canvas.StripSheet:
    """A sheet of the experiment as the board draws it."""
    is_mask = source.role == "mask"
    places = digits(source.values) if not is_mask else 0
    values = np.where(source.values, 1.0, -np.inf) if is_mask else source.values
    text = [
        ["✓" if v else "✗" for v in row] if is_mask else [short(float(v), places) for v in row] for row in source.values
    ]
    letters = [LETTERS.get(axis, axis) for axis in source.axes if axis]
    shape = " × ".join(letters) + (" = " + " × ".join(str(n) for n in source.values.shape) if letters else "")
    return canvas.StripSheet(
        source.name,
        shape,
        label,
        source.role,
        source.col_roles,
        source.rows,
        source.cols,
        source.lines,
        text,
        fills(np.asarray(values, float), source.role) if not is_mask else _mask_fill(source.values),
    )


def _mask_fill(values: np.ndarray) -> list[list[float | None]]:
    return [[0.2 if v else None for v in row] for row in values]


def cell(board: cells.Board, r: int, c: int) -> dict[str, Any]:
    """The cells and the arithmetic that one number of the result comes from, in the form that the board reads."""
    origin = board.cell(r, c)
    value = float(board.result.values[r, c])
    given = len(board.sheets) == 1
    return {
        "a": [[a.sheet, *a.rows, *a.cols] for a in origin.areas],
        "t": _tokens(origin.tokens),
        "e": "=" if _is_exact(origin.tokens, value) else "≈",
        "v": None if given or _says_it(origin.tokens, value) else exact(value),
    }


def _tokens(tokens: Sequence[cells.Token]) -> list[str]:
    """The arithmetic as signs and numbers. exp(x) becomes one token that begins with "^", drawn as a power of e."""
    out: list[str] = []
    for kind, what in tokens:
        if kind == "op":
            out.append("o" + str(what))
            if out[-1] == "o)" and len(out) >= 3 and out[-3] == "oexp(":
                out[-3:] = ["^" + out[-2]]
            continue
        text = exact(float(what))
        alone = len(tokens) == 1 or (bool(out) and out[-1] in ("oexp(", "ocos(", "osin(", "o√("))
        out.append(kind + (f"({text})" if text.startswith("−") and not alone else text))
    return out


def _says_it(tokens: Sequence[cells.Token], value: float) -> bool:
    """Whether the terms are the result itself, as for a number that was only moved: "= result" is then left out."""
    return len(tokens) == 1


def _is_exact(tokens: Sequence[cells.Token], value: float) -> bool:
    """Whether the terms, computed with the digits that are written, give exactly the result that is written."""
    if any(kind == "op" and what not in ("+", "×", "−") for kind, what in tokens):
        return False
    shown = [float(what) for kind, what in tokens if kind != "op"] + [value]
    return all(abs(x - round(x, 4)) < 1e-6 for x in shown)


def board(source: cells.Board, size: dict[str, int], label: str) -> canvas.StripBoard:
    """One operation with every cell's origin."""
    rows, cols = source.result.values.shape
    return canvas.StripBoard(
        [sheet(one, size, label) for one in source.sheets],
        source.signs,
        [[cell(source, r, c) for c in range(cols)] for r in range(rows)],
    )


def picture(board: canvas.StripBoard, row: int, col: int, title: str) -> BoardPicture:
    """The board for a file, with the chosen number's origin and sum; a number outside it is its nearest."""
    row, col = min(row, len(board.cells) - 1), min(col, len(board.cells[0]) - 1)
    origin, result = board.cells[row][col], board.sheets[-1]
    role = result.roles[col] if result.roles else result.role
    terms = [Term(f"{result.name}[{result.rows[row]}, {result.cols[col]}]", role), Term("=")]
    terms += [_term(token, board, col) for token in origin["t"]]
    if origin["v"] is not None:
        terms += [Term(origin["e"]), Term(origin["v"], "plain")]
    return BoardPicture(board.sheets, board.signs, (row, col), origin["a"], terms, title)


def _term(token: str, board: canvas.StripBoard, col: int) -> Term:
    power = token.startswith("^")
    kind, text = token[power], token[power + 1 :]
    if kind == "o":
        return Term(text)
    if kind == "n":
        return Term(text, "plain", power)
    sheet = board.sheets[int(kind)]
    return Term(text, sheet.roles[col] if sheet.roles else sheet.role, power)


def thumb(source: cells.Sheet) -> canvas.Thumb:
    """A small picture of a sheet."""
    values = np.where(source.values, 1.0, -np.inf) if source.role == "mask" else source.values
    flat = [v for row in fills(np.asarray(values, float), source.role) for v in row]
    rows, cols = source.values.shape
    return canvas.Thumb(rows, cols, flat, source.role, source.col_roles)


__all__ = ["LETTERS", "board", "exact", "picture", "short", "thumb"]
