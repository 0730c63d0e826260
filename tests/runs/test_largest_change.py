from __future__ import annotations

import numpy as np
import pytest

from attnviz.base.head_edit import HeadEdit
from attnviz.runs import what_if
from attnviz.runs.head_matrix import Look, Matrix, head_matrix
from attnviz.runs.what_if import largest_change, said_of_change, said_of_difference


def made(values, hidden=None, rows=("The", "cat", "sat")):
    values = np.array(values, np.float32)
    hidden = np.zeros(values.shape, bool) if hidden is None else np.array(hidden)
    return Matrix(values, hidden, rows, rows, (0, 1, 2), (0, 1, 2))


def test_the_row_that_changes_most_is_named_and_not_the_cell_of_a_row_that_hardly_does():
    before = made([[1, 0, 0], [0.75, 0.25, 0], [0.1, 0.6, 0.3]])
    after = made([[1, 0, 0], [0.74, 0.26, 0], [0.6, 0.1, 0.3]])
    found = largest_change(before, after)
    assert (found.row, found.moved) == (2, pytest.approx(0.5))
    assert str(said_of_change(before, after)) == (
        "“sat” changes most: 50.0% of its weight goes to other tokens, and “The” gets 60.0% where it got 10.0%."
    )


def test_a_row_that_may_look_at_nothing_any_more_changes_most():
    before = made([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]])
    after = made([[1, 0, 0], [0, 0, 0], [0.5, 0.3, 0.2]], [[False] * 3, [True] * 3, [False] * 3])
    assert largest_change(before, after).moved == pytest.approx(1)
    assert str(said_of_change(before, after)) == "“cat” changes most: it may look at nothing any more."


def test_where_nothing_changes_it_is_said():
    same = made(np.eye(3))
    assert largest_change(same, same) is None
    assert "No row" in str(said_of_change(same, same))
    assert str(said_of_difference(same, same)) == "The two pictures do not differ."


@pytest.mark.parametrize(
    "change", [HeadEdit(hidden=(1,)), HeadEdit(mask="window", window=2), HeadEdit(scale="none"), HeadEdit(mask="none")]
)
@pytest.mark.parametrize("place", [(13, 8), (0, 0), (29, 4)])
def test_on_a_trained_head_no_other_row_moves_more(decoded, change, place):
    stack = decoded.stacks[0]
    before, after = head_matrix(stack, *place), what_if.instantly(stack, *place, change)
    found = largest_change(before, after)
    p, q = (np.nan_to_num(each.values).astype(float) for each in (before, after))
    by_hand = [sum(max(0.0, b - a) for a, b in zip(p[row], q[row], strict=True)) for row in range(len(p))]
    assert found.moved == pytest.approx(max(by_hand), abs=1e-5)
    assert by_hand[found.row] == pytest.approx(max(by_hand), abs=1e-6)
    assert (found.before, found.after) == (
        pytest.approx(p[found.row, found.col]),
        pytest.approx(q[found.row, found.col]),
    )
    assert abs(found.after - found.before) == pytest.approx(np.abs(q[found.row] - p[found.row]).max())


def test_of_weights_times_values_the_sentence_speaks_of_lengths(decoded):
    stack, look = decoded.stacks[0], Look(values="values")
    before = head_matrix(stack, 13, 8, look)
    after = what_if.instantly(stack, 13, 8, HeadEdit(mask="window", window=2), look)
    assert "long where it was" in str(said_of_change(before, after))
