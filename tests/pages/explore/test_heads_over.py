"""The other heads of a picture of lines are computed under the change where it reaches them, and only there."""

from typing import Any

import numpy as np
import pytest

from attnviz.base.head_edit import HeadEdit
from attnviz.pages.explore.panels import explorer_state
from attnviz.runs.head_matrix import Look
from attnviz.runs.model_run import Request, run_model
from tests.models.conftest import smollm2

__all__ = ["smollm2"]


@pytest.fixture(scope="module")
def run(smollm2: Any) -> Any:
    return run_model(Request("smollm2-135m", "The animal was too tired."), smollm2)


@pytest.mark.parametrize("where, scale", [("head", "model"), ("layer", None), ("all", None)])
def test_other_heads_follow_a_change_of_their_layer(run: Any, where: Any, scale: Any) -> None:
    change, stack = HeadEdit(scale="none", where=where), run.stacks[0]
    found = explorer_state.matrices_over((2, 0), run, stack, 4, Look(), change)
    assert list(found) == [2, 0]
    for head, matrix in found.items():
        wanted = stack.layers[4].weights(head, scale=scale)[0, 0].float().numpy()
        assert np.abs(np.nan_to_num(matrix) - wanted).max() < 1e-6
        assert np.array_equal(np.isnan(matrix), ~stack.layers[4].mask[0, 0].numpy())


def test_a_difference_is_nothing_where_the_change_does_not_reach(run: Any) -> None:
    change = HeadEdit(scale="none", where="head", seen="difference")
    found = explorer_state.matrices_over((1,), run, run.stacks[0], 4, Look(), change)
    assert np.abs(np.nan_to_num(found[1])).max() == 0
