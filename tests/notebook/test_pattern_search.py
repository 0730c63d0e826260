"""`av.find_heads`: the table of a scan, stopped or whole."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

import attnviz as av
from attnviz.command import heads_command
from attnviz.runs.heads.scan import scan
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


def test_patterns_may_be_one_name_or_come_from_a_generator() -> None:
    wanted = ("previous_token", half_back)
    both = av.find_heads(llama(), BATCHES, wanted)
    assert list(av.find_heads(llama(), BATCHES, "previous_token").mean) == ["previous_token"]
    generated = av.find_heads(llama(), BATCHES, (each for each in wanted))  # type: ignore[arg-type]
    for name in ("previous_token", "half_back"):
        np.testing.assert_array_equal(generated.mean[name], both.mean[name])


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


def test_the_first_row_of_the_table_is_the_best_head_of_the_first_pattern() -> None:
    table = av.find_heads(llama(), BATCHES, ("previous_token", "first_token"))
    frame, best = table.to_dataframe(), table.top(1, "previous_token")[0]
    assert len(frame) == 24
    assert (frame.layer[0], frame["head"][0]) == (best.layer, best.head)
    assert frame["mean"][0] == table.mean["previous_token"].max()
    assert frame.name[0] == f"model.layers.{best.layer}.self_attn"
    assert table._repr_html_().count("<tr") == 1 + 2 * 5


def test_the_picture_shows_each_pattern_at_its_head() -> None:
    table = av.find_heads(llama(), BATCHES, ("previous_token", "first_token"))
    figure = table.plot()
    assert [trace.name for trace in figure.data] == ["previous_token", "first_token"]
    np.testing.assert_allclose(figure.data[1].z, table.mean["first_token"], rtol=1e-6)
    assert len(table.plot("first_token").data) == 1


def test_the_command_leaves_the_error_of_a_single_line_out(capsys: pytest.CaptureFixture[str]) -> None:
    ids = torch.randint(1, 50, (1, 9))
    heads_command._print(av.find_heads(llama(), [ids], ["previous_token"]), 1)
    (_title, row) = capsys.readouterr().out.splitlines()
    assert "nan" not in row
    assert row.split()[-1] == "1"
    heads_command._print(av.find_heads(llama(), [ids, ids.flip(1)], ["previous_token"]), 1)
    assert len(capsys.readouterr().out.splitlines()[1].split()) == len(row.split()) + 1
