"""A link restores what it holds, its nonsense is named in a sentence, and a panel that fails stops no other."""

import base64
import html
import re

import numpy as np
import pytest

from attnviz.app.exports import GATHERING, Gathering
from attnviz.app.links import link_reading
from tests.links.canvases import unblob
from tests.pages.conftest import read, sound
from tests.pages.explore.test_page import said

OPEN = {f"open_{panel}": "true" for panel in ("stages", "what_if", "next", "average", "beside")}


def canvas_of(page):
    held = page.query_params.get("c")
    return link_reading.unpack(held[0] if isinstance(held, list) else held)


def test_a_link_restores_hidden_tokens_silenced_heads_and_the_stages(visit):
    held = link_reading.pack({"hide": [1], "quiet": ["13.8", "0.2"], "stage": [8, 6]})
    page = sound(visit("explore", c=held, **OPEN))
    assert "No token may look at: animal (1)." in html.unescape(said(page))
    assert page.multiselect(key="quiet").value == ["0.2", "13.8"]
    assert (page.selectbox(key="stage_query").value, page.selectbox(key="stage_key").value) == (8, 6)
    assert "to “street”" in said(page)


def test_choosing_in_the_stages_or_a_head_beside_writes_the_link(visit):
    page = visit("explore", open_stages="true", open_beside="true")
    page.selectbox(key="stage_query").set_value(5).run()
    assert canvas_of(page)["stage"] == [5, None]
    page.selectbox(key="stage_key").set_value(2).run()
    assert canvas_of(page)["stage"] == [5, 2]
    page.text_input(key="beside_head").set_value("3.1").run()
    assert page.query_params["beside_head"] in ("3.1", ["3.1"])
    again = visit("explore", open_beside="true", beside_head="3.1")
    assert again.text_input(key="beside_head").value == "3.1"


def test_the_heads_of_a_mean_and_the_reach_of_rollout_are_in_the_link(visit):
    """Rollout opens at a depth at which the first token is not everything."""
    page = visit("explore", open_average="true", combine="chosen", mean_of="3.1,4.2,99.9")
    assert page.multiselect(key="mean_of").value == ["3.1", "4.2"]
    page.multiselect(key="mean_of").set_value(["3.1"]).run()
    assert page.query_params["mean_of"] in ("3.1", ["3.1"])
    assert "On average “" in said(page)
    page.segmented_control(key="combine").set_value("rollout").run()
    assert 1 <= page.slider(key="rollout_to").value < 30
    shares = [float(share) for share in re.findall(r"estimate (\d+)% of", said(page))]
    assert shares
    assert max(shares) < 90
    rolled = visit("explore", open_average="true", combine="rollout", rollout_to="2")
    assert rolled.slider(key="rollout_to").value == 2
    assert "By this estimate" in said(rolled)


def test_nonsense_on_the_canvas_is_left_out_with_a_sentence(visit):
    wrong = {"hide": [1, 999, "x", None], "quiet": ["0.0", "99.9", 7], "stage": [3, 400], "mask": "!!"}
    pins = {"t": [["q", 500], ["k", 1], ["z", 1], 5], "c": [1, 900]}
    page = sound(visit("explore", c=link_reading.pack(wrong | {"pins": pins}), mask="painted", **OPEN))
    assert "Left out of “Hidden tokens”, because it does not exist here: 999, x, None" in said(page)


@pytest.mark.parametrize("held", [{"hide": "x", "quiet": 3, "pins": [1], "stage": "a"}, [1, 2]])
def test_a_canvas_of_the_wrong_kind_changes_nothing(visit, held):
    page = sound(visit("explore", c=link_reading.pack(held), mask="painted", **OPEN))
    assert "“it” gives 75% to “animal”" in said(page)


@pytest.mark.parametrize("tokens, words", [(4, "was for other tokens"), (13, "may attend to nothing")])
def test_a_painted_mask_for_another_sentence_or_one_that_hides_every_key_is_explained(visit, tokens, words):
    bits = base64.b64encode(np.packbits(np.zeros((tokens, tokens), bool)).tobytes()).decode()
    page = sound(
        visit("explore", c=link_reading.pack({"mask": bits}), mask="painted", open_what_if="true", again="true")
    )
    assert words in said(page)


def test_an_error_in_one_panel_is_one_sentence_there_and_the_other_panels_work(visit):
    page = visit("explore", beside_head="99.9", **OPEN)
    assert len(page.error) == 1
    assert "There is no head" in page.error[0].value
    assert "The arithmetic of one cell" in said(page)


@pytest.mark.parametrize("text", ["x", "😀 猫坐在。 قطة على السجادة", "a\tb\nc\n<img src=x onerror=1> $x$ **y**"])
def test_every_panel_takes_any_text(visit, text):
    page = sound(visit("explore", text=text, mask="none", **OPEN))
    assert page.text_area(key="text").value == text
    assert "The arithmetic of one cell" in said(page)
    assert "<img" not in said(page)
    assert ("A single token can only look at itself" in said(page)) == (text == "x")


@pytest.mark.parametrize("part", ["all", "second to first"])
def test_words_values_and_hidden_special_tokens_go_together_in_every_panel(visit, part):
    look = {"units": "words", "show": "values", "special": "rest", "part": part}
    page = sound(visit("explore", model="minilm-l6", second="He likes music.", mask="causal", **look, **OPEN))
    assert page.text_input(key="second").value == "He likes music."
    assert "takes most from" in said(page)
    assert "%" not in " ".join(m.value for m in page.markdown if "takes most" in m.value)


def test_a_head_of_one_model_is_another_head_or_a_sentence_in_the_next(visit):
    page = visit("explore", at="29.8", c=link_reading.pack({"quiet": ["29.8"], "hide": [12]}), **OPEN)
    sound(page.selectbox(key="model").set_value("minilm-l6").run())
    assert "There is no layer 29 head 8" in said(page).replace("&#46;", ".")
    assert "because it does not exist here: 29.8" in said(page).replace("&#46;", ".")


def test_an_appended_token_becomes_part_of_the_sentence_and_is_pinned_wherever_it_ends(visit):
    page = visit("explore", open_next="true", units="words")
    before = page.text_area(key="text").value
    next(b for b in page.button if (b.key or "").startswith("append-")).click().run()
    assert not page.exception
    assert canvas_of(page)["pins"] == {"t": [["q", -1]]}
    text = page.text_area(key="text").value
    assert text.startswith(before)
    assert len(text) > len(before)


def test_a_name_that_no_choice_of_the_page_has_is_said_and_what_sites_add_to_links_is_not(visit):
    page = visit("glossary", layer="999", h_at="999.1", utm_source="a", fbclid="b", embed="true")
    [warning] = page.warning
    assert html.unescape(warning.value) == (
        "Left out of the link, because this page has nothing by that name: “layer”, “h_at”."
    )
    assert not visit("glossary", present="1", theme="dark", lang="en", utm_source="a", ref="b", embed="true").warning
    [warning] = visit("glossary", **{"**x**": "1", "<b>$a$</b>": "2"}).warning
    assert "**x**" not in warning.value
    assert "<b>" not in warning.value


def test_an_encoder_is_told_of_no_next_token_and_a_head_it_does_not_have_in_the_words_of_its_list(visit):
    silent = {"quiet": ["1.2", "10.8"]}
    shown = sound(visit("explore", model="minilm-l6", at="1.2", open_what_if="true", c=link_reading.pack(silent)))
    text = read(shown)
    assert "Left out of “Silence heads (layer.head)”, because it does not exist here: 10.8." in text
    assert "What that changes is in the layers after it." in text
    assert "next token" not in text
    assert "next token" in read(sound(visit("explore", open_what_if="true", c=link_reading.pack(silent))))


@pytest.mark.parametrize("words, link, root", [(9, {}, False), (9, {"curve": "root"}, True), (60, {}, True)])
def test_all_heads_are_saved_in_the_colours_that_they_have_on_screen(visit, words, link, root):
    """And in a long sentence, whose weights are small, the small squares are not black."""
    page = visit("explore", text="one cat saw " * (words // 3), **link)
    headers = [unblob(bytes(each.proto.bytes))[0] for each in page.get("bidi_component") if each.proto.bytes]
    (header,) = [each for each in headers if "heads" in each and "order" in each]
    page.session_state[GATHERING] = gathering = Gathering(None)
    sound(page.run())
    (saved,) = [offer.fig() for offer in gathering.offers if offer.key == "mosaic"]
    assert header["scale"]["root"] is saved.parts[0].grid.root is root


@pytest.mark.parametrize(
    "link, named",
    [
        ({}, ""),
        ({"mask": "none", "seen": "before"}, ""),
        ({"mask": "window", "window": "3", "seen": "after"}, "head 8 of layer 13. Mask: a window of 3 tokens. Scores "),
        (
            {"scale": "none", "where": "all", "seen": "after"},
            "Mask: the model's own. Scores times 1. Changed in every ",
        ),
    ],
)
def test_the_caption_of_all_heads_names_the_mask_and_the_scale_that_they_are_saved_with(visit, link, named):
    page = visit("explore", **link)
    page.session_state[GATHERING] = gathering = Gathering(None)
    sound(page.run())
    (caption,) = [offer.caption for offer in gathering.offers if offer.key == "mosaic"]
    assert named in caption
    assert ("Mask:" in caption) is bool(named)
