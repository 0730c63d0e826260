import pytest

from attnviz.base.message import Problem
from attnviz.pages.sharing.maths import Config, run


def test_every_layout_holds_the_bytes_and_parameters_the_formulas_say():
    rows = run(Config(d_model=64, n_heads=8, n_kv_heads=2, d_head=8, tokens=40, rounds=1))
    assert [row.kind for row in rows] == ["MHA", "GQA", "MQA"]
    assert [row.cache_bytes for row in rows] == [row.formula_bytes for row in rows]
    assert [row.parameters for row in rows] == [row.formula_parameters for row in rows]
    assert rows[0].ratio == 1
    assert rows[0].cache_bytes == 8 * rows[2].cache_bytes


def test_layouts_that_are_the_same_are_measured_once():
    assert [row.kind for row in run(Config(32, 4, 4, 8, 8, 1))] == ["MHA", "MQA"]


def test_more_memory_than_a_visitor_may_take_is_refused_in_words():
    with pytest.raises(Problem, match="at most 512 MiB are measured here"):
        run(Config(tokens=1 << 20))
