"""The comparison page in a real Chromium: a first picture in time, training that stops, nothing wider than a phone."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import answered, opens

Open = Callable[..., Any]


open_compare = opens("compare", "[class*=st-key-snippet-c]")


@pytest.mark.every_commit
def test_the_curves_cross_where_the_table_says(open_compare: Open) -> None:
    page = open_compare("?c_d=640")
    page.get_by_text("LSTM at n = 1,280").wait_for()
    page.locator(".js-plotly-plot .main-svg").first.wait_for()  # the sentence may be there before the picture


def test_training_is_drawn_as_it_runs_and_stops_where_it_is_told(open_compare: Open) -> None:
    page = open_compare("?c_section=reach&c_reach_n=24&c_reach_steps=1000")
    page.get_by_text("Training takes a few seconds").wait_for()
    page.get_by_role("button", name="Train").click()
    page.get_by_text(re.compile(r"step \d\d+ of 1000")).wait_for()
    page.get_by_text(re.compile(r"after [1-9]\d* steps")).first.wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text(re.compile(r"Stopped at step [1-9]\d* of 1000")).wait_for()
    answered(page)
    page.get_by_role("button", name="Start again").wait_for()
    page.get_by_text("Labels right").first.wait_for()  # its curves stay


def test_measuring_can_be_stopped_and_keeps_what_it_has(open_compare: Open) -> None:
    page = open_compare("?c_section=measured&c_where=here&c_longest=8192")
    page.get_by_role("button", name="Measure on this server").click()
    page.get_by_text(re.compile(r", \d+ tokens: ")).wait_for(timeout=60_000)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text(re.compile(r"Stopped after [1-9]\d* of \d+ measurements")).wait_for()
    page.get_by_role("button", name="Measure on this server").wait_for()
