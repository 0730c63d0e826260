"""Where each number on the building page comes from: sheets of numbers, and the arithmetic of any cell."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Role = Literal["x", "q", "k", "v", "w", "scores", "weights", "mask", "plain"]
Token = tuple[str, float | str]  # ("0", 0.3): a number from sheet 0; ("op", "×"); ("n", 0.5): a constant


@dataclass(frozen=True)
class Sheet:
    """A matrix with its name, labels for its rows and columns, and the roles that set its colours."""

    name: str  #: as in the formula: "Q", "W_Q", "K^T"
    role: Role
    values: np.ndarray  #: (rows, columns)
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    axes: tuple[str, str]  #: letters of the two axes, such as ("Q", "H*D")
    col_roles: tuple[Role, ...] = ()  #: one for each column, when columns differ in role as in packed QKV
    lines: tuple[int, ...] = ()  #: columns before which a head ends

    def transposed(self) -> "Sheet":
        """Rows as columns, for a sheet whose columns are all of one role and one head."""
        return Sheet(self.name + "ᵀ", self.role, self.values.T, self.cols, self.rows, (self.axes[1], self.axes[0]))


#: a block of cells: sheet, first row, row after the last, first column, column after the last
Area = tuple[int, int, int, int, int]
CellOrigin = tuple[
    list[Area], list[Token]
]  #: one number's origin: the cells it was computed from, and the sum written out


@dataclass(frozen=True)
class Board:
    """One operation: input sheets, the signs between them, and the result."""

    tensor_id: str  #: "q" | "k" | "v" | "qkv" | "kv" | "x" | "y" | "U" | "R" | "FFN" | ""
    sheets: tuple[Sheet, ...]  #: the last one is the result
    signs: tuple[str, ...]  #: one after each sheet but the last; the last sign is "="
    cell: Callable[[int, int], CellOrigin]

    @property
    def result(self) -> Sheet:
        return self.sheets[-1]


def cell_area(sheet: int, r: int, c: int) -> Area:
    return sheet, r, r + 1, c, c + 1


def row_area(sheet: int, r: int, matrix: Sheet) -> Area:
    return sheet, r, r + 1, 0, matrix.values.shape[1]


def column_area(sheet: int, c: int, matrix: Sheet) -> Area:
    return sheet, 0, matrix.values.shape[0], c, c + 1


def multiply_sheets(tensor_id: str, a: Sheet, b: Sheet, result: Sheet, bias: Sheet | None = None) -> Board:
    """a @ b (+ bias): each cell is a row of `a` times a column of `b`."""

    def cell(r: int, c: int) -> CellOrigin:
        terms: list[list[Token]] = [
            [("0", float(left)), ("op", "×"), ("1", float(right))]
            for left, right in zip(a.values[r], b.values[:, c], strict=True)
        ]
        areas = [row_area(0, r, a), column_area(1, c, b)]
        if bias is not None:
            terms.append([("2", float(bias.values[0, c]))])
            areas.append(cell_area(2, 0, c))
        return areas, _join_terms(terms)

    if bias is None:
        return Board(tensor_id, (a, b, result), ("×", "="), cell)
    return Board(tensor_id, (a, b, bias, result), ("×", "+", "="), cell)


def _join_terms(terms: Sequence[Sequence[Token]]) -> list[Token]:
    """The terms with a plus between them."""
    return [token for term in terms for token in (("op", "+"), *term)][1:]


def move_cells(
    tensor_id: str, sources: Sequence[Sheet], result: Sheet, origin: Callable[[int, int], tuple[int, int, int]]
) -> Board:
    """Numbers copied to new cells. `origin(row, column)`: sheet, row and column of the original."""

    def cell(r: int, c: int) -> CellOrigin:
        sheet, i, j = origin(r, c)
        return [cell_area(sheet, i, j)], [(str(sheet), float(sources[sheet].values[i, j]))]

    return Board(tensor_id, (*sources, result), (*[","] * (len(sources) - 1), "→"), cell)


def combine_cells(
    tensor_id: str,
    sources: tuple[Sheet, ...],
    result: Sheet,
    signs: tuple[str, ...],
    terms: Callable[..., list[Token]],
) -> Board:
    """An elementwise operation. `terms`: the arithmetic as tokens, from the sources' numbers."""

    def cell(r: int, c: int) -> CellOrigin:
        return [cell_area(at, r, c) for at in range(len(sources))], terms(
            *(float(source.values[r, c]) for source in sources)
        )

    return Board(tensor_id, (*sources, result), signs, cell)


def add_sheets(tensor_id: str, a: Sheet, b: Sheet, result: Sheet) -> Board:
    return combine_cells(tensor_id, (a, b), result, ("+", "="), lambda x, y: [("0", x), ("op", "+"), ("1", y)])


def scale_sheet(a: Sheet, result: Sheet, width: int | None) -> Board:
    """Every number divided by sqrt(width). None: unchanged."""
    divisor = [] if width is None else [("op", "÷"), ("op", "√("), ("n", float(width)), ("op", ")")]
    return combine_cells("", (a,), result, ("→",), lambda x: [("0", x), *divisor])


def mask_sheet(a: Sheet, allowed: Sheet, result: Sheet) -> Board:
    return combine_cells("", (a, allowed), result, ("∧", "="), lambda x, seen: [("0", x) if seen else ("op", "−∞")])


def drop_out(a: Sheet, keep_mask: Sheet, result: Sheet, keep_probability: float) -> Board:
    divisor = [("op", "÷"), ("n", keep_probability)] if keep_probability < 1 else []
    return combine_cells(
        "", (a, keep_mask), result, ("×", "→"), lambda x, survives: [("0", x), ("op", "×"), ("1", survives), *divisor]
    )


def softmax_sheet(a: Sheet, result: Sheet) -> Board:
    """exp of a score, divided by the sum of exp over its row; hidden scores are left out."""

    def cell(r: int, c: int) -> CellOrigin:
        finite = [float(s) for s in a.values[r] if np.isfinite(s)]
        if not finite or not np.isfinite(a.values[r, c]):
            return [row_area(0, r, a)], [("n", 0.0)]
        return [row_area(0, r, a)], [
            *_call("exp(", "0", float(a.values[r, c])),
            ("op", "÷"),
            ("op", "("),
            *_join_terms([_call("exp(", "0", score) for score in finite]),
            ("op", ")"),
        ]

    return Board("", (a, result), ("→",), cell)


def rotate_sheet(tensor_id: str, a: Sheet, angles: Sheet, result: Sheet) -> Board:
    """RoPE: columns c and c + D/2 of each row, turned together by their angle."""
    half = a.values.shape[1] // 2

    def cell(r: int, c: int) -> CellOrigin:
        partner, first = (c + half) % (2 * half), c < half
        angle = float(angles.values[r, c])
        return [cell_area(0, r, c), cell_area(0, r, partner), cell_area(1, r, c)], [
            ("0", float(a.values[r, c])),
            ("op", "×"),
            *_call("cos(", "1", angle),
            ("op", "−" if first else "+"),
            ("0", float(a.values[r, partner])),
            ("op", "×"),
            *_call("sin(", "1", angle),
        ]

    return Board(tensor_id, (a, angles, result), ("↻", "="), cell)


def _call(name: str, sheet: str, argument: float) -> list[Token]:
    return [("op", name), (sheet, argument), ("op", ")")]


def normalise_rows(tensor_id: str, a: Sheet, result: Sheet, eps: float, centre: bool) -> Board:
    """Each row divided by its root mean square; with `centre`, the row's mean is subtracted first."""

    def cell(r: int, c: int) -> CellOrigin:
        values = a.values[r].astype(np.float64)
        mean = float(values.mean()) if centre else 0.0
        spread = float(np.square(values - mean).mean())
        top: list[Token] = [("0", float(a.values[r, c]))]
        if centre:
            top = [("op", "("), *top, ("op", "−"), ("n", mean), ("op", ")")]
        root: list[Token] = [("op", "√("), ("n", spread), ("op", "+"), ("n", eps), ("op", ")")]
        return [row_area(0, r, a)], [*top, ("op", "÷"), *root]

    return Board(tensor_id, (a, result), ("→",), cell)
