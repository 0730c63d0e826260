"""Which row of a head changes most between two pictures of it, and in that row which cell: for captions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.core.message import Message
from attnviz.experiments.explorer.head_matrix import Matrix

LEAST = 5e-4  #: of a weight, or of the largest value: what is less would read as no change


@dataclass(frozen=True)
class LargestChange:
    """The row that changes most, the cell of it that changes most, and how much."""

    row: int
    col: int
    before: float  #: of the cell; 0 where it is masked
    after: float
    moved: float  #: how much of the row was taken from some keys, or added to others: the larger of the two
    empty: bool  #: whether the row may look at nothing afterwards, and could before


def largest_change(before: Matrix, after: Matrix) -> LargestChange | None:
    """The largest change between two matrices of the same rows and columns; None where nothing changes."""
    old, new = (np.where(each.hidden, 0.0, np.nan_to_num(each.values)) for each in (before, after))
    difference = (new - old).astype(np.float64)  # (Q, K)
    if not difference.size:
        return None
    moved = np.maximum(difference.clip(0).sum(1), (-difference).clip(0).sum(1))  # (Q,)
    unit = 1.0 if before.meaning != "values" else float(max(old.max(), new.max()))
    row = int(moved.argmax())
    if moved[row] < LEAST * unit or not moved[row]:
        return None
    col = int(np.abs(difference[row]).argmax())
    empty = bool(after.hidden[row].all() and not before.hidden[row].all())
    return LargestChange(row, col, float(old[row, col]), float(new[row, col]), float(moved[row]), empty)


def said_of_change(before: Matrix, after: Matrix) -> Message:
    """A sentence on how the second picture differs from the first, naming the row and the cell that change most."""
    found = largest_change(before, after)
    if found is None:
        if before.meaning == "values":
            return Message("No weight × value in this picture changes.")
        return Message("No row of this picture changes by as much as 0.05% of its weight.")
    token = before.row_name(found.row)
    if found.empty:
        return Message("“{token}” changes most: it may look at nothing any more.", {"token": token})
    params: dict[str, object] = {
        "token": token,
        "key": before.col_name(found.col),
        "moved": found.moved,
        "before": found.before,
        "after": found.after,
    }
    said = _SAID_OF_VALUES if before.meaning == "values" else _SAID_OF_WEIGHTS
    return Message(said.template, params)


def said_of_difference(left: Matrix, right: Matrix) -> Message:
    """A sentence on where two heads differ most on the same tokens."""
    found = largest_change(left, right)
    if found is None:
        return Message("The two pictures do not differ.")
    params: dict[str, object] = {
        "token": left.row_name(found.row),
        "key": left.col_name(found.col),
        "left": found.before,
        "right": found.after,
    }
    said = _VALUES_DIFFER if left.meaning == "values" else _WEIGHTS_DIFFER
    return Message(said.template, params)


_SAID_OF_WEIGHTS = Message(
    "“{token}” changes most: {moved:.1%} of its weight goes to other tokens, and “{key}” gets {after:.1%} "
    "where it got {before:.1%}."
)
_SAID_OF_VALUES = Message(
    "“{token}” changes most: weight times value of “{key}”, after W_O, is {after:.2f} long where it was {before:.2f}."
)
_WEIGHTS_DIFFER = Message(
    "They differ most in “{token}”: it gives “{key}” {left:.1%} on the left and {right:.1%} on the right."
)
_VALUES_DIFFER = Message(
    "They differ most in “{token}”: weight times value of “{key}”, after W_O, is {left:.2f} long on the left and "
    "{right:.2f} on the right."
)
