"""`av.find_heads` and `av.cost_of_heads`: the table of a scan, stopped or whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from torch import Tensor

import attnviz as av
from attnviz.analysis.heads.removal_costs import head_costs
from attnviz.analysis.heads.scan import scan
from tests.models.tiny import llama, tokens

BATCHES = [tokens(2, 9, seed=seed) for seed in range(3)]
tables = pytest.mark.parametrize("call, steps", [(av.find_heads, scan), (av.cost_of_heads, head_costs)])


@tables
def test_the_table_holds_what_the_last_step_found(call: Any, steps: Any) -> None:
    *_, last = steps(llama(), BATCHES)
    seen: list[int] = []
    table = call(llama(), BATCHES, progress=seen.append)
    assert seen == [2, 4, 6]
    assert (table.sentences, table.complete) == (6, True)
    for name in last.mean:
        assert table.mean[name].shape == (2, 6)
        for measure in ("mean", "stderr", "stability"):
            np.testing.assert_array_equal(getattr(table, measure)[name].ravel(), getattr(last, measure)[name])


def stopped() -> Iterator[Tensor]:
    """The first batch; then somebody interrupts."""
    yield BATCHES[0]
    raise KeyboardInterrupt


@tables
def test_interrupting_keeps_what_is_done(call: Any, steps: Any) -> None:
    with pytest.warns(UserWarning, match="stopped after 2 sentences"):
        table = call(llama(), stopped())
    assert not table.complete
    assert "interrupted" in repr(table)
    (whole,) = steps(llama(), BATCHES[:1])
    for name, mean in whole.mean.items():
        np.testing.assert_array_equal(table.mean[name].ravel(), mean)


def test_the_picture_shows_each_pattern_at_its_head_and_costs_around_0() -> None:
    table = av.find_heads(llama(), BATCHES, ("previous_token", "first_token"))
    figure = table.plot()
    assert [trace.name for trace in figure.data] == ["previous_token", "first_token"]
    np.testing.assert_allclose(figure.data[1].z, table.mean["first_token"], rtol=1e-6)
    assert len(table.plot("first_token").data) == 1
    costs = av.cost_of_heads(llama(), BATCHES)
    axis = costs.plot("silenced").layout.coloraxis
    assert axis.cmin == -axis.cmax == -np.abs(costs.mean["silenced"]).max()
