from __future__ import annotations

import json

import pytest

from tests.pages.conftest import said_below_heads


def said(page):
    kinds = (page.markdown, page.caption, page.info, page.warning)
    return " ".join([*(element.value for kind in kinds for element in kind), said_below_heads(page)])


def head_of(page):
    """(layer, head) that the large picture shows, read from what its canvas was sent."""
    blob = next(b for b in page.get("bidi_component") if b.proto.component_name.endswith("attnviz.head")).proto.bytes
    header = json.loads(blob[4 : 4 + int.from_bytes(blob[:4], "little")])
    return tuple(header["tile"])


@pytest.fixture(scope="module")
def opened():
    """One visit, shared by the tests that change nothing."""
    from tests.pages.conftest import open_page

    return open_page("explore")


def test_a_sentence_a_model_and_its_attention_are_there_from_the_start(opened):
    assert not opened.exception
    assert not opened.error
    assert opened.text_area(key="text").value.startswith("The animal")
    assert len(opened.get("bidi_component")) == 2, "the overview and one head"
    assert "gives" in said(opened)


def test_a_visitor_sees_at_most_seven_controls_at_first(opened):
    plain = [opened.text_area, opened.selectbox, opened.text_input, opened.slider, opened.toggle, opened.multiselect]
    inside = {"hub_id", "specials", "pair", "frame", "show", "units", "special", "colours", "curve"}
    visible = [w for kind in plain for w in kind if w.key not in inside]
    assert 1 <= len(visible) <= 7


def test_heads_that_stand_out_are_named_with_their_number(opened):
    assert any("looks at the previous token" in b.label for b in opened.button)


def test_choosing_a_standout_shows_that_head_and_writes_it_into_the_link(visit):
    page = visit("explore")
    button = next(b for b in page.button if "previous token" in b.label)
    button.click().run()
    assert not page.exception
    layer, head = head_of(page)
    assert f"Layer {layer} head {head}" in button.label
    assert page.query_params["at"] in (f"{layer}.{head}", [f"{layer}.{head}"])


def test_a_link_opens_the_head_it_names(visit):
    page = visit("explore", at="3.1", text="A short one")
    assert head_of(page) == (3, 1)
    assert page.text_area(key="text").value == "A short one"


@pytest.mark.parametrize(
    "link, sentence",
    [
        ({"at": "99.0"}, "There is no layer 99"),
        ({"at": "<b>"}, "does not exist here"),
        ({"by": "nonsense"}, "it must be one of: place"),
        ({"c": "1garbage"}, "cannot be read"),
        ({"model": "no-such-model"}, "does not exist here"),
    ],
)
def test_a_link_to_something_that_does_not_exist_says_so_and_the_rest_is_shown(visit, link, sentence):
    page = visit("explore", **link)
    assert not page.exception
    assert sentence in said(page) + " ".join(e.value for e in page.error)
    assert len(page.get("bidi_component")) >= 2


@pytest.mark.parametrize(
    "text", ["", "  \n ", "😀", "猫坐在垫子上。", "قطة على السجادة", "x", "<script>alert(1)</script> $x$ **y**"]
)
def test_any_text_is_shown_or_refused_in_a_sentence(visit, text):
    page = visit("explore")
    page.text_area(key="text").set_value(text).run()
    assert not page.exception
    if text.strip():
        assert not page.error
        assert len(page.get("bidi_component")) == 2
    else:
        assert "empty" in page.error[0].value
    assert not any("<script>" in m.value for m in page.markdown)


def test_a_very_long_text_is_cut_and_the_page_says_where(visit):
    page = visit("explore")
    page.selectbox(key="model").set_value("minilm-l6").run()
    page.text_area(key="text").set_value("cat " * 25_000).run()
    assert not page.exception
    assert any("Cut at" in i.value for i in page.info)


@pytest.mark.parametrize(
    "panel, words",
    [
        ("stages", "how “it” comes to give 0.7496 to “animal”"),
        ("what_if", "what changes is shown here at once"),
        ("next", "comes next with"),
        ("average", "On average “it” gives"),
        ("beside", "“it” gives 45% to “The”"),
    ],
)
def test_each_panel_opens_and_computes(visit, opened, panel, words):
    page = visit("explore", **{f"open_{panel}": "true"})
    assert not page.exception
    assert not page.error
    assert words in said(page)
    assert words not in said(opened)


def test_what_if_shows_before_after_and_difference(visit):
    page = visit("explore", open_what_if="true", mask="none")
    assert len(page.get("bidi_component")) == 5
    assert "Before:" in said(page)
    assert "After:" in said(page)


def test_silencing_a_head_shows_what_follows(visit):
    page = visit("explore", open_what_if="true")
    page.multiselect[0].set_value(["0.0", "1.2"]).run()
    assert not page.exception
    assert "of the probability moved to other tokens" in said(page)


def test_an_appended_token_becomes_part_of_the_sentence(visit):
    page = visit("explore", open_next="true")
    before = page.text_area(key="text").value
    button = next(b for b in page.button if (b.key or "").startswith("append-"))
    button.click().run()
    assert not page.exception
    assert page.text_area(key="text").value.startswith(before)
    assert len(page.text_area(key="text").value) > len(before)


def test_an_encoder_takes_a_second_sentence(visit):
    page = visit("explore", model="minilm-l6", second="He likes music.")
    assert not page.exception
    assert page.text_input(key="second").value == "He likes music."
    assert not page.error


def test_the_page_is_unchanged_when_the_visitor_comes_back(visit):
    page = visit("explore", at="3.1", by="entropy")
    page.switch_page("../../../pages/home.py").run()
    page.query_params.clear()
    page.switch_page("../../../pages/explore.py").run()
    assert not page.exception
    assert head_of(page) == (3, 1)
    assert page.selectbox(key="by").value == "entropy"
