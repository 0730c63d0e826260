"""Messages to the board: sheets of numbers as text and colour, and a cell's arithmetic as coloured terms."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.canvas import tensor_board as canvas
from attnviz.pages.build.maths import cells

LETTERS = {"HD": "H·D", "GD": "G·D", "GV": "G·Dv", "HV": "H·Dv"}


def true_minus(text: str) -> str:
    """The number in `text` with a true minus sign; negative zero loses its sign."""
    if text.startswith("-"):
        return text[1:] if float(text) == 0 else "−" + text[1:]
    return text


def format_cell(value: float, digits: int) -> str:
    """A number as it is written in a cell."""
    return "−∞" if value == -np.inf else true_minus(f"{Rounded(value):.{digits}f}")


def format_exact(value: float) -> str:
    """A number in the arithmetic: one to four digits after the point, without trailing zeros."""
    if value == -np.inf:
        return "−∞"
    decimals = 4 if abs(value) >= 1e-3 else 6
    text = f"{Rounded(value):.{decimals}f}".rstrip("0")
    return true_minus(text + "0" if text.endswith(".") else text)


def cell_digits(values: np.ndarray) -> int:
    """Digits after the point for the cells of a sheet: one if all numbers are exact with one, else two."""
    finite = values[np.isfinite(values)]
    return 1 if np.allclose(finite, finite.round(1), atol=1e-5) else 2


def colour_strengths(values: np.ndarray, role: str) -> list[list[float | None]]:
    """Colour strengths from -1 to 1, relative to the sheet's largest number (weights unchanged); None where hidden."""
    if role == "mask":
        return [[1.0 if seen else None for seen in row] for row in values]
    finite = np.abs(values[np.isfinite(values)])
    top = 1.0 if role == "weights" else float(finite.max(initial=0)) or 1.0
    return [[round(float(v) / top, 3) if np.isfinite(v) else None for v in row] for row in values]


def board_sheet(source: cells.Sheet, label: str) -> canvas.StripSheet:
    """A sheet of the experiment as the board draws it."""
    if source.role == "mask":
        text = [["✓" if seen else "✗" for seen in row] for row in source.values]
        fill = [[0.2 if seen else None for seen in row] for row in source.values]
    else:
        places = cell_digits(source.values)
        text = [[format_cell(float(value), places) for value in row] for row in source.values]
        fill = colour_strengths(source.values, source.role)
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
        fill,
    )


def cell_origin(board: cells.Board, r: int, c: int) -> dict[str, Any]:
    """The source cells and the arithmetic of one result cell, as the board reads them."""
    areas, tokens = board.cell(r, c)
    value = float(board.result.values[r, c])
    return {
        "a": areas,
        "t": _tokens(tokens),
        "e": "=" if _is_exact(tokens, value) else "≈",
        "v": None if len(tokens) == 1 else format_exact(value),  # a single term is the result itself
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
        text = format_exact(float(what))
        alone = len(tokens) == 1 or (bool(out) and out[-1] in ("oexp(", "ocos(", "osin(", "o√("))
        out.append(kind + (f"({text})" if text.startswith("−") and not alone else text))
    return out


def _is_exact(tokens: Sequence[cells.Token], value: float) -> bool:
    """Whether the terms with their displayed digits give exactly the displayed result."""
    if any(kind == "op" and what not in ("+", "×", "−") for kind, what in tokens):
        return False
    terms = [float(what) for kind, what in tokens if kind != "op"] + [value]
    return all(abs(x - round(x, 4)) < 1e-6 for x in terms)


def operation_board(source: cells.Board, label: str) -> canvas.StripBoard:
    """One operation with every cell's origin."""
    rows, cols = source.result.values.shape
    return canvas.StripBoard(
        [board_sheet(sheet, label) for sheet in source.sheets],
        source.signs,
        [[cell_origin(source, r, c) for c in range(cols)] for r in range(rows)],
    )


def thumbnail(source: cells.Sheet) -> canvas.Thumb:
    """A small picture of a sheet."""
    rows, cols = source.values.shape
    fill = colour_strengths(source.values, source.role)
    return canvas.Thumb(rows, cols, [strength for row in fill for strength in row], source.role, source.col_roles)
