"""A link restores what it holds, its nonsense is named in a sentence; and what the model writes is in the link."""

import base64
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from attnviz.app.links import link_reading
from attnviz.base.packed import unpack_blob
from tests.pages.conftest import link_of, offers, said, sound


def painted(tokens):
    """A mask of no cell, painted over so many tokens."""
    return {"mask": base64.b64encode(np.packbits(np.zeros((tokens, tokens), bool)).tobytes()).decode()}


@pytest.mark.parametrize(
    "held, told",
    [
        ({"hide": [1, 999, "x", None], "pins": {"t": [["q", 500], 5], "c": [1, 900]}, "mask": "!!"}, "999, x, None"),
        (painted(4), "was for other tokens"),
        (painted(13), "may attend to nothing"),
    ],
)
def test_what_a_link_says_of_tokens_that_are_not_there_is_left_out_and_named(visit, held, told):
    page = sound(visit("explore", c=link_reading.pack(held), mask="painted", open_what_if="true", again="true"))
    assert told in said(page)


@pytest.mark.parametrize("words, root", [(9, False), (60, True)])
def test_all_heads_are_saved_in_the_colours_that_they_have_on_screen(visit, words, root):
    """And in a long sentence, whose weights are small, neither the small squares nor the large head is black."""
    page = visit("explore", text="one cat saw " * (words // 3))
    headers = [unpack_blob(bytes(each.proto.bytes))[0] for each in page.get("bidi_component") if each.proto.bytes]
    (header,) = [each for each in headers if "heads" in each and "order" in each]
    assert next(each for each in headers if each.get("litRow"))["scale"]["root"] is root
    (saved,) = [offer.fig() for offer in offers(page) if offer.key == "mosaic"]
    assert header["scale"]["root"] is saved.parts[0].grid.root is root


@pytest.mark.parametrize(
    "link, named",
    [
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


def text_of(page):
    return page.text_area(key="text").value


def test_tokens_are_appended_written_and_taken_back_and_the_link_holds_what_is_there(visit):
    page = visit("explore", text=START, open_next="true", write="2", temperature="0", units="words")
    next(button for button in page.button if (button.key or "").startswith("append-")).click().run()
    appended = text_of(page)
    assert appended.startswith(START)
    assert len(appended) > len(START)
    assert link_reading.unpack(link_of(page)["c"])["pins"] == {"t": [["q", -1]]}, "wherever it ends"
    page.button(key="begin-writing").click().run(timeout=120)
    assert not page.exception
    written = text_of(page)
    assert link_of(page)["text"] == written
    for shorter in range(2):
        assert appended < text_of(page) <= written, shorter
        page.button(key="undo").click().run(timeout=60)
    assert text_of(page) == appended


def test_writing_ends_where_no_more_tokens_can_be_read(visit, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_TOKEN_LIMIT", "7")
    page = visit("explore", text=START, open_next="true", write="50", temperature="0")
    page.button(key="begin-writing").click().run(timeout=120)
    assert not page.exception
    assert any("at most 7" in error.value for error in page.error)
    assert page.button(key="begin-writing")
