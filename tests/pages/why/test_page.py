"""The page Why this token?, as a visitor uses it."""

import base64
from types import SimpleNamespace

import numpy as np
import pytest

from attnviz.app import live_run
from attnviz.pages.why import choices
from attnviz.pages.why.maths import circuit, parts, patches
from attnviz.pages.why.panels import parts as panel
from tests.pages.conftest import charts, said, sound


@pytest.fixture(autouse=True)
def few_passes(monkeypatch):
    """Each cell of a map and each size of a circuit is a pass: test_parts.py looks at their numbers."""
    monkeypatch.setattr(patches, "MOST", 9)
    monkeypatch.setattr(circuit, "sizes", lambda parts: (0, 1, 6, parts))
    live_run.finished.cache_clear()
    yield
    live_run.finished.cache_clear()


def test_it_opens_on_madrid_and_names_the_head_that_says_so(visit):
    page = sound(visit("why"))
    assert "**Madrid** leads **Rome** by 4.73 in logits: it is 113 times as likely." in said(page)
    assert "head 23.4 adds most: +3.85" in said(page)
    assert "+3.85 comes from “Spain”" in said(page)
    ladder = charts(page)[0]
    sent = [trace["x"] for trace in ladder["data"]]
    lengths = [np.frombuffer(base64.b64decode(each["bdata"]), each["dtype"]).sum() for each in sent]
    assert sum(lengths) == pytest.approx(4.73, abs=0.01), "the bars add up"


def test_a_head_is_silenced_and_the_model_runs_again(visit):
    page = visit("why", why_silence="true", why_at="23.4")
    assert "Without head 23.4" in said(page)
    assert "The lead goes from 4.73 to" in said(page)


def test_the_visitors_own_token_alone(visit):
    page = sound(visit("why", why_alone="true", why_token="Barcelona", why_text="The capital of Spain is"))
    assert "The logit of **Barcelona** is" in said(page)


def test_a_word_of_several_tokens_is_refused_by_naming_them(visit):
    page = visit("why", why_token="antidisestablishmentarianism")
    assert "is not one token" in said(page)


def test_a_model_that_predicts_nothing_says_so(visit):
    assert "predicts no token" in said(visit("why", why_model="minilm-l6"))


def test_two_prompts_are_compared_cell_by_cell(visit):
    page = sound(visit("why", why_section="patches"))
    assert "gives back" in said(page)
    grid = charts(page)[0]["data"][0]
    assert grid["type"] == "heatmap"


def test_prompts_of_different_length_are_refused_with_both_numbers(visit):
    page = visit("why", why_section="patches", why_other="The capital of the Republic of Italy is")
    assert "the clean prompt has 5 tokens and the corrupted one 8" in said(page)


def test_without_a_second_prompt_the_page_asks_for_one(visit):
    page = visit("why", why_section="circuit", why_text="My own sentence is")
    assert "Type a second prompt" in said(page)


@pytest.mark.parametrize("text", ["a", "the the the the", "- _ ."])
@pytest.mark.parametrize("alone", ["false", "true"])
def test_one_token_equal_ones_and_signs_are_answered(visit, text, alone):
    page = sound(visit("why", why_text=text, why_alone=alone))
    shown = said(page)
    assert ("the only token" in shown) == (text == "a")
    assert "nan" not in shown


@pytest.mark.parametrize("lead", [4.2, -4.2, 0.0, 0.001])
def test_neither_token_leads_where_both_are_as_likely(lead):
    asked = [parts.AskedToken(n, name, 0.5) for n, name in enumerate("XY")]
    answer = panel._answer(SimpleNamespace(parts=SimpleNamespace(total=lead, asked=asked), token="X", versus="Y"))
    assert ("leads" in answer) == (lead > 1)
    assert ("trails" in answer) == (lead < -1)
    assert ("equally likely" in answer) == (abs(lead) < 1)


@pytest.mark.parametrize("section", choices.SECTION.ids)
def test_what_is_typed_shows_as_typed(visit, section):
    typed = "<b>x $"
    page = sound(visit("why", why_section=section, why_text=typed, why_other=typed.replace("x", "w")))
    titles = [chart["layout"].get("title", {}).get("text") or "" for chart in charts(page)]
    assert not any("<b>x" in title for title in titles), "Plotly would read it as markup"
