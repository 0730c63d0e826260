"""Links that nobody could have clicked together, on the pages about scaling, decoding, positions and comparing.

Each section is opened with the same nonsense in every number, every text or every id at once.
"""

import os

import pytest

from attnviz.app.links.choices import page_choices
from attnviz.pages.compare import choices as compare_choices
from attnviz.pages.decoding import choices as decoding_choices
from attnviz.pages.positions import choices as positions_choices
from attnviz.pages.scaling import choices as scaling_choices
from attnviz.serve.page_table import PAGES
from tests.pages.conftest import said

TURNING = {
    "scaling": scaling_choices.SECTION,
    "decoding": decoding_choices.VIEW,
    "positions": positions_choices.SECTION,
    "compare": compare_choices.SECTION,
}
SECTIONS = [(page, section) for page, choice in TURNING.items() for section in choice.ids]


def opened(visit, page, section, link):
    """The section, with a small decoder where it takes one."""
    more = {"d_model": "core"} if page == "decoding" else {}
    return visit(page, **(link | more | {TURNING[page].name: section}))


def choices(page, *kinds):
    found = [choice for choice in page_choices(page) if choice.kind in kinds and not choice.inside]
    return [choice for choice in found if choice is not TURNING[page] and choice.name != "d_model"]


MARKUP = "<b>x</b> $\\frac{1}{0}$ **x** `y` [a](javascript:1) \U0001f600"


@pytest.mark.slow
@pytest.mark.parametrize("page, section", SECTIONS)
@pytest.mark.parametrize("end, text", [("low", ""), ("high", MARKUP)])
def test_texts_become_no_markup_and_numbers_at_their_ends_are_pictures_or_a_sentence(visit, page, section, end, text):
    """layer=9999 and head=9999, zero steps, a base of its largest."""
    heavy = {"d_tokens", "p_count", "p_n", "s_steps", "s_seeds", "s_dk"} if end == "high" else set()
    numbers = [choice for choice in choices(page, "whole", "real") if choice.name not in heavy]
    link = {choice.name: choice.write(type(choice.example)(getattr(choice, end))) for choice in numbers}
    link |= {choice.name: text for choice in choices(page, "text", "id", "several", "flag")}
    shown = opened(visit, page, section, link | {"p_model": "none"})
    for part in ("<b>", "javascript:1)", "$\\frac{1}{0}$"):
        assert part not in said(shown)
    assert len(shown.get("plotly_chart")) + len(shown.get("bidi_component")) + len(shown.error) + len(shown.info) > 0


@pytest.mark.slow
@pytest.mark.parametrize("page", [row.name for row in PAGES])
def test_no_page_holds_anything_of_the_environment(visit, monkeypatch, page):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    monkeypatch.setenv("HF_TOKEN", "hf_planted_secret_0123")
    monkeypatch.setenv("PLANTED_VARIABLE", "planted_secret_4567")
    shown = visit(page)
    drawn = [str(element.proto) for element in shown.main if hasattr(element, "proto")]
    assert len(drawn) > 3
    told = " ".join([*drawn, *(str(value) for value in shown.session_state._state.filtered_state.values())])
    for secret in ("planted_secret", os.environ["HOME"] + "/.", os.environ["PATH"]):
        assert secret not in told
