import base64
import re

import numpy as np
import pytest

from attnviz.analysis.head_matrix import head_matrix
from attnviz.analysis.model_run import Request, run_model
from attnviz.analysis.what_if import edited_head
from attnviz.app.links import link_reading
from attnviz.app.text import escape_markdown
from attnviz.base.head_edit import HeadEdit
from attnviz.base.rounding import format_number
from tests.pages.conftest import canvases_on, open_page, ran, said, sound, with_code


@pytest.fixture(scope="module")
def opened():
    """One visit, shared by the tests that change nothing."""
    return open_page("explore")


def test_a_sentence_a_model_and_its_attention_are_there_from_the_start_with_few_controls(opened):
    sound(opened)
    assert opened.text_area(key="text").value.startswith("The animal")
    assert len(canvases_on(opened)) == 2, "the overview and one head"
    assert any("looks at the previous token" in b.label for b in opened.button)
    plain = [opened.text_area, opened.selectbox, opened.text_input, opened.slider, opened.toggle, opened.multiselect]
    inside = {"hub_id", "specials", "pair", "frame", "show", "units", "special", "colours", "curve"}
    assert 1 <= len([w for kind in plain for w in kind if w.key not in inside]) <= 7


def test_an_empty_text_is_refused_in_a_sentence_and_a_very_long_one_is_cut_and_the_page_says_where(visit):
    page = visit("explore", model="minilm-l6")
    for text in ("", "  \n "):
        page.text_area(key="text").set_value(text).run()
        assert not page.exception
        assert "empty" in page.error[0].value
    sound(page.text_area(key="text").set_value("cat " * 25_000).run())
    assert any("Cut at" in i.value for i in page.info)


def test_each_panel_opens_and_computes(visit, opened):
    panels = {
        "stages": "adds the longest vector to the output",
        "what_if": "what changes is shown here at once",
        "why": "adds most, ",
        "next": "comes next with",
        "average": "On average “",
        "beside": "They differ most in “",
    }
    page = sound(visit("explore", **{f"open_{panel}": "true" for panel in panels}))
    for words in panels.values():
        assert words in said(page)
        assert words not in said(opened)


def test_a_what_if_shows_before_after_and_difference_and_names_the_row_that_changes_most(visit, smollm2):
    page = visit("explore", open_what_if="true", mask="window", window="3")
    assert len(canvases_on(page)) == 5
    assert "Before: “" in said(page)
    stack = run_model(Request("smollm2-135m", page.text_area(key="text").value), smollm2).stacks[0]
    p = head_matrix(stack, 13, 8).values
    q = edited_head(stack, 13, 8, HeadEdit(mask="window", window=3)).values
    lost = (p - q).clip(0).sum(1)
    row = int(lost.argmax())
    assert f"“{escape_markdown(stack.queries.labels[row])}” changes most: {lost[row]:.1%}" in said(page)
    assert f"After: “{escape_markdown(stack.queries.labels[row])}” gives" in said(page)


def test_a_silenced_head_is_said_to_keep_its_weights_and_the_head_that_changes_most_is_drawn(visit):
    page = visit("explore", open_what_if="true")
    page.multiselect[0].set_value(["13.8"]).run()
    words = said(page)
    assert "its own weights cannot change" in words
    assert "Drawn is the head that changes most" in words
    assert "changes most:" in words.split("Drawn is")[1]
    assert "No row of this picture" not in words
    assert "of the probability" in words


def what_if_that_ran(page):
    """The names of the page's program of a what-if, run; the row and the cell that change most are on screen."""
    code = next(block.value for block in with_code(page).code if "before[" in block.value)
    found, printed = ran(code)
    row = int(re.search(r"before\[(\d+)\]", code)[1])
    old, new = (found[name][row].detach().numpy().astype(float) for name in ("before", "after"))
    moved = max((new - old).clip(0).sum(), (old - new).clip(0).sum())
    assert moved > 0.001
    assert f"changes most: {moved:.1%} of its weight" in said(page)
    col = int(np.abs(new - old).argmax())
    assert f"gets {new[col]:.1%} where it got {old[col]:.1%}" in said(page)
    lines = printed.splitlines()
    assert [line.split()[-1] for line in lines[: len(new)]] == [f"{value:.4f}" for value in new]
    return found | {"code": code}


@pytest.mark.slow
@pytest.mark.parametrize(
    "link",
    [
        {"mask": "window", "window": "3"},
        {"mask": "none", "scale": "inverse", "where": "layer", "again": "true"},
        {"scale": "factor", "factor": "3.0", "where": "all", "again": "true", "at": "7.2"},
        {"hide": [1, 3], "quiet": ["5.1", "13.8"]},
        {"painted": True, "at": "2.0"},
    ],
    ids=["window", "none again", "factor everywhere", "hidden and silenced", "painted"],
)
def test_the_code_of_a_what_if_prints_what_is_on_screen(visit, link):
    canvas = {key: link.pop(key) for key in ("hide", "quiet") if key in link}
    if link.pop("painted", False):
        mask = np.tril(np.random.default_rng(0).random((13, 13)) < 0.6) | np.eye(13, dtype=bool)
        canvas["mask"] = base64.b64encode(np.packbits(mask).tobytes()).decode()
        link["mask"] = "painted"
    if canvas:
        link["c"] = link_reading.pack(canvas)
    page = visit("explore", open_what_if="true", **link)
    found = what_if_that_ran(page)
    if "shift" in found:
        assert f"Other tokens get {format_number(found['shift'], '.1%')} of the probability" in said(page)
