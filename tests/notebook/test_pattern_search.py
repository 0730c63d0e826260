"""`av.find_heads`: the table of a scan, stopped or whole."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

import attnviz as av
from attnviz.analysis.heads.scan import scan
from tests.models.tiny import llama, tokens

BATCHES = [tokens(2, 9, seed=seed) for seed in range(3)]


def half_back(ids: Tensor) -> Tensor:
    here = torch.arange(len(ids))
    return here[:, None] // 2 == here


def test_the_table_holds_what_the_whole_scan_found() -> None:
    last = list(scan(llama(), BATCHES, ("previous_token", half_back)))[-1]
    seen: list[int] = []
    table = av.find_heads(llama(), iter(BATCHES), ("previous_token", half_back), progress=seen.append)
    assert seen == [2, 4, 6]
    assert (table.sentences, table.complete) == (6, True)
    for name in ("previous_token", "half_back"):
        assert table.mean[name].shape == (2, 6)
        np.testing.assert_array_equal(table.mean[name].ravel(), last.mean[name])
        np.testing.assert_array_equal(table.stderr[name].ravel(), last.stderr[name])
        np.testing.assert_array_equal(table.stability[name].ravel(), last.stability[name])


def test_interrupting_keeps_what_is_done() -> None:
    def stopped() -> Iterator[Tensor]:
        yield BATCHES[0]
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="stopped after 2 sentences"):
        table = av.find_heads(llama(), stopped())
    assert not table.complete
    whole = av.find_heads(llama(), BATCHES[:1])
    np.testing.assert_array_equal(table.mean["previous_token"], whole.mean["previous_token"])
    assert "interrupted" in repr(table)


def test_the_picture_shows_each_pattern_at_its_head() -> None:
    table = av.find_heads(llama(), BATCHES, ("previous_token", "first_token"))
    figure = table.plot()
    assert [trace.name for trace in figure.data] == ["previous_token", "first_token"]
    np.testing.assert_allclose(figure.data[1].z, table.mean["first_token"], rtol=1e-6)
    assert len(table.plot("first_token").data) == 1
