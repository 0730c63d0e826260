"""A link restores what it holds, its nonsense is named in a sentence; and what the model writes is in the link."""

import base64
import html
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from attnviz.app.links import link_reading
from attnviz.base.packed import unpack_blob
from attnviz.pages.explore.panels import next as next_panel
from tests.pages.conftest import drawn, offers, said, sound

OPEN = {f"open_{panel}": "true" for panel in ("stages", "what_if", "why", "next", "average", "beside")}


def canvas_of(page):
    held = page.query_params.get("c")
    return link_reading.unpack(held[0] if isinstance(held, list) else held)


def test_a_link_restores_hidden_tokens_silenced_heads_and_the_cell(visit):
    held = link_reading.pack({"hide": [1], "quiet": ["13.8", "0.2"], "stage": [8, 6]})
    page = sound(visit("explore", c=held, **OPEN))
    assert "No token may look at: animal (1)." in html.unescape(said(page))
    assert page.multiselect(key="quiet").value == ["0.2", "13.8"]
    header, _payload = drawn(page, "head")
    assert header["pins"] == {"tokens": [["q", 8]], "cell": [8, 6]}
    assert header["edit"]["silenced"] == [[0, 2], [13, 8]]


def test_nonsense_on_the_canvas_is_left_out_with_a_sentence(visit):
    wrong = {"hide": [1, 999, "x", None], "quiet": ["0.0", "99.9", 7], "stage": [3, 400], "mask": "!!"}
    pins = {"t": [["q", 500], ["k", 1], ["z", 1], 5], "c": [1, 900]}
    page = sound(visit("explore", c=link_reading.pack(wrong | {"pins": pins}), mask="painted", **OPEN))
    assert "Left out of “Hidden tokens”, because it does not exist here: 999, x, None" in said(page)


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
    assert "adds the longest vector to the output" in said(page)


def test_an_appended_token_becomes_part_of_the_sentence_and_is_pinned_wherever_it_ends(visit):
    page = visit("explore", open_next="true", units="words")
    before = page.text_area(key="text").value
    next(b for b in page.button if (b.key or "").startswith("append-")).click().run()
    assert not page.exception
    assert canvas_of(page)["pins"] == {"t": [["q", -1]]}
    text = page.text_area(key="text").value
    assert text.startswith(before)
    assert len(text) > len(before)


@pytest.mark.parametrize("words, link, root", [(9, {}, False), (9, {"curve": "root"}, True), (60, {}, True)])
def test_all_heads_are_saved_in_the_colours_that_they_have_on_screen(visit, words, link, root):
    """And in a long sentence, whose weights are small, neither the small squares nor the large head is black."""
    page = visit("explore", text="one cat saw " * (words // 3), **link)
    headers = [unpack_blob(bytes(each.proto.bytes))[0] for each in page.get("bidi_component") if each.proto.bytes]
    (header,) = [each for each in headers if "heads" in each and "order" in each]
    assert next(each for each in headers if each.get("litRow"))["scale"]["root"] is root
    (saved,) = [offer.fig() for offer in offers(page) if offer.key == "mosaic"]
    assert header["scale"]["root"] is saved.parts[0].grid.root is root


@pytest.mark.parametrize(
    "link, named",
    [
        ({}, ""),
        ({"mask": "none", "seen": "before"}, ""),
        ({"mask": "window", "window": "3", "seen": "after"}, "head 8 of layer 13. Mask: a window of 3 tokens. Scores "),
        (
            {"scale": "none", "where": "all", "seen": "after", "text": "The café 中 is open"},
            "Mask: the model's own. Scores times 1. Changed in every ",
        ),
    ],
)
def test_the_caption_of_all_heads_names_the_mask_and_the_scale_that_they_are_saved_with(visit, link, named):
    (offer,) = [offer for offer in offers(visit("explore", **link)) if offer.key == "mosaic"]
    assert named in offer.caption
    assert ("Mask:" in offer.caption) is bool(named)
    if "window" in link:  # 270 heads take seconds to draw
        assert offer.fig().to_svg().startswith("<svg")


SITE = "https://pages.example/attention/"


def links(page):
    said = [each.value for each in page.caption if "Open without a server" in each.value]
    return [re.search(r"\((.*)\)", each)[1] for each in said]


def test_it_carries_the_sentence_the_head_and_the_change(visit, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_SITE", SITE)
    canvas = {"hide": [1], "quiet": ["13.8"], "pins": {"t": [["q", 3, "Spain"]]}}
    change = {"mask": "window", "window": "2", "scale": "none", "where": "layer", "seen": "difference"}
    page = visit("explore", text="The capital of Spain (or not) is", at="23.4", c=link_reading.pack(canvas), **change)
    (link,) = links(page)
    address, fragment = link.split("#")
    said = {name: value for name, (value,) in parse_qs(fragment, strict_parsing=True).items()}
    assert address == SITE
    assert link_reading.unpack(said.pop("c")) == {"hide": [1], "quiet": ["13.8"]}
    assert said == {"model": "smollm2-135m", "text": "The capital of Spain (or not) is", "at": "23.4", **change}
    assert ")" not in urlsplit(link).fragment, "it would end the link early"


START = "The cat sat on the"


class Loaded:
    """Dice that always fall on the likeliest token."""

    def choices(self, found, shares):
        return [max(zip(found, shares, strict=True), key=lambda pair: pair[1])[0]]


@pytest.fixture
def likeliest(monkeypatch):
    monkeypatch.setattr(next_panel, "_draw", Loaded())


def text_of(page):
    return page.text_area(key="text").value


def test_the_model_writes_takes_back_and_the_link_holds_what_is_there(visit, likeliest):
    page = visit("explore", text=START, open_next="true", write="3")
    page.button(key="begin-writing").click().run(timeout=120)
    assert not page.exception
    written = text_of(page)
    assert written.startswith(START)
    assert len(written) > len(START) + 3
    assert page.query_params["text"] in (written, [written])
    page.button(key="undo").click().run(timeout=60)
    two = text_of(page)
    assert written.startswith(two)
    assert START < two < written
    for _token in range(2):
        page.button(key="undo").click().run(timeout=60)
    assert text_of(page) == START
    assert page.button(key="undo").disabled


def test_a_token_drawn_alone_is_one_that_top_k_allows(visit):
    page = visit("explore", text=START, open_next="true", topk="1")
    page.button(key="draw-one").click().run(timeout=60)
    drawn = text_of(page)
    again = visit("explore", text=START, open_next="true", temperature="0")
    again.button(key="draw-one").click().run(timeout=60)
    assert text_of(again) == drawn, "one token is left possible either way: the likeliest"


def test_writing_ends_where_no_more_tokens_can_be_read(visit, likeliest, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_TOKEN_LIMIT", "7")
    page = visit("explore", text=START, open_next="true", write="50")
    page.button(key="begin-writing").click().run(timeout=120)
    assert not page.exception
    assert any("at most 7" in error.value for error in page.error)
    assert page.button(key="begin-writing")
