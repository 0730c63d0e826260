"""The comparison page as a visitor uses it: every section, links, extreme values, and what a host forbids."""

import pytest
import streamlit as st

from attnviz.analysis import measuring, own_process
from attnviz.app.cache.shared_results import finished_results
from attnviz.pages.compare.maths import layer_costs, layer_timing
from attnviz.pages.compare.panels.measured import ONE_AT_A_TIME
from tests.pages.conftest import ran, said, table_of, with_code
from tests.pages.scaling.test_page import figures

CONFIG_MEASURED = layer_timing.Config(longest=256)


@pytest.fixture(autouse=True)
def nothing_kept():
    finished_results.cache_clear()


def test_the_table_says_where_attention_and_the_others_cost_the_same_and_its_program_prints_the_same(visit):
    page = visit("compare")
    assert "At n = 4,096 and d = 512, self-attention takes **42.95 GFLOP**" in said(page)
    assert "LSTM at n = 1,024, GRU at n = 512" in said(page)
    table = table_of(page)
    assert list(table["waits"]) == ["1", "1", "1", "4,096", "4,096", "4,096", "1", "1"]
    assert all("yes" in cell for cell in table["torch counts the same"])
    assert "agree on all 8 layers" in said(page)
    here, (_names, printed) = layer_costs.run(layer_costs.Config()).here, ran(with_code(page).code[0].value)
    for kind in ("attention", "lstm", "gru", "conv", "rnn"):
        assert f"{here[kind][0]:,} FLOPs" in printed


def test_the_prepared_measurements_are_on_show_and_name_their_machine(visit):
    page = visit("compare", c_section="measured", c_pass="training", c_width="256")
    shown = layer_timing.load_prepared()[256, True]
    assert f"{shown.machine.processor}, cores: {shown.machine.cores}; torch" in said(page)
    time, memory, _flops = shown.exponents("explicit")
    table = table_of(page)
    assert table["time grows as"][0] == f"n^{time:.2f}"
    assert table["memory grows as"][0] == f"n^{memory:.2f}"
    assert "GRU" in said(page)


@pytest.fixture
def quick(monkeypatch):
    """Make a measurement take a fraction of a second."""
    monkeypatch.setattr(measuring, "ENOUGH", 0.0)
    monkeypatch.setattr(layer_timing, "LENGTHS", (32, 64, 128))
    monkeypatch.setattr(own_process, "results", lambda _module, _work, config: layer_timing.measure(config))


def test_the_owner_measures_by_a_button_when_nobody_else_does_and_finds_the_result_again(visit, quick):
    page = visit("compare", c_section="measured", c_where="here", c_longest="256")
    assert "Nothing of this configuration has been measured" in said(page)
    assert figures(page) == 0
    with ONE_AT_A_TIME:
        st.cache_resource.clear()  # a lock is no entry of a cache
        page.button(key="c_measure").click().run()
    assert "Another visitor is measuring" in said(page)
    assert figures(page) == 0
    page.button(key="c_measure").click().run()
    assert not page.error
    assert figures(page) == 2
    assert "Measured on" in said(page)
    again = visit("compare", c_section="measured", c_where="here", c_longest="256")
    assert figures(again) == 2
    assert again.button(key="c_measure").label == "Measure again"
    other, before = object(), finished_results("c-measured").find(CONFIG_MEASURED)
    finished_results("c-measured").get("another width", lambda: other)
    assert figures(again.button(key="c_measure").click().run()) == 2
    assert finished_results("c-measured").find(CONFIG_MEASURED) is not before
    assert finished_results("c-measured").find("another width") is other, "what was measured of another one stays"


def test_on_a_hosted_server_visitors_cannot_measure(visit, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    page = visit("compare", c_section="measured", c_where="here")
    assert "visitors cannot start it" in said(page)
    assert "c_measure" not in [button.key for button in page.button]
    assert with_code(page).code
    page.segmented_control(key="c_where").set_value("prepared").run()
    assert figures(page) == 2
