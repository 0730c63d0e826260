"""`av.cost_of_heads`: the table of costs, stopped or whole."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from torch import Tensor

import attnviz as av
from attnviz.analysis.heads.removal_costs import head_costs
from tests.models.tiny import llama, tokens

BATCHES = [tokens(2, 9, seed=seed) for seed in range(2)]


def test_the_table_holds_the_costs_and_draws_them_around_0() -> None:
    *_, last = head_costs(llama(), BATCHES)
    seen: list[int] = []
    table = av.cost_of_heads(llama(), BATCHES, progress=seen.append)
    assert seen == [2, 4]
    np.testing.assert_array_equal(table.mean["silenced"].ravel(), last.mean["silenced"])
    axis = table.plot("silenced").layout.coloraxis
    assert axis.cmin == -axis.cmax == -np.abs(table.mean["silenced"]).max()


def test_interrupting_keeps_what_is_done_and_the_file_goes_on(tmp_path: Path) -> None:
    def stopped() -> Iterator[Tensor]:
        yield BATCHES[0]
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="stopped after 2 sentences"):
        part = av.cost_of_heads(llama(), stopped(), keep=tmp_path / "costs.npz")
    assert not part.complete
    whole = av.cost_of_heads(llama(), BATCHES, keep=tmp_path / "costs.npz")
    np.testing.assert_array_equal(whole.scores.by_sentence["direct"][:2], part.scores.by_sentence["direct"])
