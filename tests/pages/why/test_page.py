"""The page Why this token?, as a visitor uses it."""

import re

import pytest

from attnviz.app import live_run
from attnviz.pages.why.maths import two_prompts
from tests.pages.conftest import charts, drawn, said, sound


@pytest.fixture(autouse=True)
def few_passes(monkeypatch):
    """Each cell of a map and each size of a circuit is a pass: test_parts.py looks at their numbers."""
    monkeypatch.setattr(two_prompts, "MAX_EXACT_CELLS", 9)
    monkeypatch.setattr(two_prompts, "measured_sizes", lambda parts: (0, 1, 6, parts))
    live_run.finished_results.cache_clear()
    yield
    live_run.finished_results.cache_clear()


def test_it_opens_on_madrid_and_names_the_head_that_says_so(visit):
    page = sound(visit("why"))
    assert "**Madrid** leads **Rome** by 4.73 in logits: it is 113 times as likely." in said(page)
    assert "+3.85 comes from “Spain”" in said(page)
    flows = drawn(page, "logit_flows")[0]["flows"]
    assert sum(value for *_, value, _before in flows) == pytest.approx(4.73, abs=0.01), "the flows add up"


def test_a_head_is_silenced_and_the_model_runs_again(visit):
    page = visit("why", why_silence="true", why_at="23.4")
    assert "Without head 23.4" in said(page)
    assert "The lead goes from 4.73 to" in said(page)


def test_the_visitors_own_token_alone(visit):
    page = sound(visit("why", why_alone="true", why_token="Barcelona", why_text="The capital of Spain is"))
    assert "The logit of **Barcelona** is" in said(page)


def test_two_prompts_are_compared_cell_by_cell(visit):
    page = sound(visit("why", why_section="patches"))
    assert "gives back" in said(page)
    r, only = re.search(r"cells correlate with (-?[\d.]+)( only)?", said(page).replace("−", "-")).groups()
    assert (only is not None) == (float(r) < 0.7)
    grid = charts(page)[0]["data"][0]
    assert grid["type"] == "heatmap"
