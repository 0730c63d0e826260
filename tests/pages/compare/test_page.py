"""The comparison page as a visitor uses it: every section, links, extreme values, training, and what a host forbids."""

from functools import cache

import pytest
import streamlit as st

from attnviz.analysis import measuring, own_process
from attnviz.app import training
from attnviz.app.cache import waiting_line
from attnviz.app.cache.shared_results import finished_results
from attnviz.pages.compare.maths import layer_costs, layer_timing, reach_training
from attnviz.pages.compare.panels.measured import ONE_AT_A_TIME
from attnviz.pages.compare.panels.reach import trained_reach
from tests.pages.conftest import ran, said, table_of, with_code
from tests.pages.scaling.test_page import figures

SHORT = {"c_section": "reach", "c_reach_n": "8", "c_reach_steps": "20", "c_reach_layers": "2"}
CONFIG = reach_training.Config(n=8, steps=20, layers=2)
CONFIG_MEASURED = layer_timing.Config(longest=256)


@cache
def results(config):
    """All partial results of a training, in this process: computed once for all tests."""
    return tuple(reach_training.train(config))


def train(config):
    yield from results(config)


@pytest.fixture(autouse=True)
def nothing_kept():
    finished_results.cache_clear()


def test_the_table_says_where_attention_and_the_others_cost_the_same_and_its_program_prints_the_same(visit):
    page = visit("compare")
    assert "At n = 4,096 and d = 512, self-attention takes **42.95 GFLOP**" in said(page)
    assert "LSTM at n = 1,024, GRU at n = 512" in said(page)
    assert "**8** of dilated convolution" in said(page)
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


def test_another_configuration_shows_gradients_trains_by_a_button_and_can_be_watched_once_more(visit, monkeypatch):
    trained = []
    monkeypatch.setattr(own_process, "results", lambda *given: trained.append(given[2]) or train(given[2]))
    page = visit("compare", **SHORT)
    assert figures(page) == 1
    assert "does not depend on the first token at all in: **convolution**" in said(page)
    for key in ("c_train", "c_train_watched_button"):
        page.button(key=key).click().run()
        assert not page.error
        assert figures(page) == 3
        assert f"self-attention {results(CONFIG)[-1].reach['attention'].end_accuracy:.0%}" in said(page)
        assert "c_stop" not in [button.key for button in page.button]
        page.run()
        assert page.button(key="c_train_watched_button").label == "Watch it train"
    assert trained == [CONFIG, CONFIG]


@pytest.fixture
def line(monkeypatch):
    """The line of those who train, one at a time."""
    made = waiting_line.WaitingLine(1, longest=6)
    monkeypatch.setattr(training, "TRAININGS", made)
    return made


def test_a_second_training_waits_for_the_first_and_finds_what_it_made(visit, monkeypatch, line):
    """The first one is this test, in the line; the visitor's begins when it has left."""
    waited = []

    def said_to_the_second(before):
        waited.append(waiting_line.trainings_ahead(before))
        if len(waited) == 2:
            trained_reach().get(CONFIG, lambda: results(CONFIG)[-1])
            first.__exit__(None, None, None)
        return waited[-1]

    monkeypatch.setattr(training, "trainings_ahead", said_to_the_second)
    monkeypatch.setattr(own_process, "results", lambda *_given: pytest.fail("trained what was there"))
    page = visit("compare", **SHORT)
    first = line.turn(print)
    first.__enter__()
    st.cache_resource.clear()  # a line is no entry of a cache
    page.button(key="c_train").click().run()
    assert not page.error
    assert figures(page) == 3
    assert waited == ["1 training of another visitor is ahead of yours, which starts by itself."] * 2
