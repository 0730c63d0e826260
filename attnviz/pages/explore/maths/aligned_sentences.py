"""Two heads' matrices on one axis of tokens, so that two sentences and their difference make one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from attnviz.runs.head_matrix import Matrix

#: a token of the first sentence, of the second, or the two that stand in each other's place
Pair = tuple[int | None, int | None]


@dataclass(frozen=True)
class Aligned:
    """Both matrices with the same rows and columns, and the second minus the first.

    A token that only one sentence has is a hidden row and column of the other and of the difference.
    """

    first: Matrix
    second: Matrix
    difference: Matrix
    replaced: int  #: tokens that stand in another's place
    alone: int  #: tokens that only one of the sentences has

    @property
    def common(self) -> tuple[Matrix, Matrix]:
        """Both, without the rows and columns that only one of them has."""
        gone = ~(_there(self.first)[0] & _there(self.second)[0])[:, None]
        gone = gone | ~(_there(self.first)[1] & _there(self.second)[1])[None, :]
        first, second = (replace(each, hidden=each.hidden | gone) for each in (self.first, self.second))
        return first, second


def aligned(first: Matrix, second: Matrix) -> Aligned | None:
    """The two on one axis; None where less than half of the shorter one's tokens stand in the other, in one order."""
    rows, cols = pairs_of(first.rows, second.rows), pairs_of(first.cols, second.cols)
    if 2 * in_both(first.rows, second.rows) < min(len(first.rows), len(second.rows)):
        return None
    names = named(first.rows, second.rows, rows), named(first.cols, second.cols, cols)
    left, right = (_spread(each, rows, cols, side, names) for side, each in enumerate((first, second)))
    both = np.ix_([None not in pair for pair in rows], [None not in pair for pair in cols])
    shared = np.zeros(left.hidden.shape, bool)
    shared[both] = True
    plain = right.minus(left)
    difference = replace(plain, hidden=plain.hidden | ~shared)
    replaced = sum(None not in (i, j) and first.rows[i or 0] != second.rows[j or 0] for i, j in rows)
    return Aligned(left, right, difference, replaced, sum(None in pair for pair in rows))


def pairs_of(first: Sequence[str], second: Sequence[str]) -> list[Pair]:
    """The tokens of both in one order: equal ones together, and as many others in a place as the other has there."""
    pairs: list[Pair] = []
    for _kind, a0, a1, b0, b1 in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if a1 - a0 == b1 - b0:
            pairs += zip(range(a0, a1), range(b0, b1), strict=True)
        else:
            pairs += [(i, None) for i in range(a0, a1)]
            pairs += [(None, j) for j in range(b0, b1)]
    return pairs


def in_both(first: Sequence[str], second: Sequence[str]) -> int:
    """How many tokens stand in both, in the same order."""
    found = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    return sum(block.size for block in found)


def _spread(
    matrix: Matrix,
    rows: Sequence[Pair],
    cols: Sequence[Pair],
    side: int,
    names: tuple[tuple[str, ...], tuple[str, ...]],
) -> Matrix:
    """The matrix on the common axis; where it has no such token, it is hidden."""
    row_at, col_at = ([pair[side] for pair in pairs] for pairs in (rows, cols))
    values = np.zeros((len(rows), len(cols)), np.float32)
    hidden = np.ones(values.shape, bool)
    place = np.ix_([at is not None for at in row_at], [at is not None for at in col_at])
    taken = np.ix_([at for at in row_at if at is not None], [at for at in col_at if at is not None])
    values[place], hidden[place] = matrix.values[taken], matrix.hidden[taken]
    nothing = {"before_w_o": None, "row_breaks": (), "col_breaks": (), "row_tokens": (), "col_tokens": ()}
    places = {"row_at": tuple(range(len(rows))), "col_at": tuple(range(len(cols)))}
    return replace(matrix, values=values, hidden=hidden, rows=names[0], cols=names[1], **places, **nothing)  # type: ignore[arg-type]


def named(first: Sequence[str], second: Sequence[str], pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The names of the common axis: both where they differ, a dash where one sentence has no token."""
    both = [("–" if i is None else first[i], "–" if j is None else second[j]) for i, j in pairs]
    return tuple(a if a == b else f"{a} / {b}" for a, b in both)


def _there(matrix: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Which rows and which columns show anything."""
    seen = ~matrix.hidden
    return np.asarray(seen.any(1)), np.asarray(seen.any(0))
