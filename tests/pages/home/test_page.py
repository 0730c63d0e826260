import base64
import re

import pytest

from attnviz.app.exports import GATHERING, Gathering
from attnviz.app.links import link_reading
from attnviz.app.page_entry import PAGES_DIR
from attnviz.pages.home import choices
from attnviz.serve.page_table import PAGES
from tests.pages.conftest import said_below_heads


def test_the_first_screen_has_a_computed_picture_and_says_what_it_shows(visit):
    page = visit()
    head = next(one.proto.bytes for one in page.get("bidi_component") if one.proto.bytes)
    assert b"Trained: SmolLM2 135M Instruct (4-bit), layer" in head
    assert b'"story":true' in head.replace(b" ", b"")


@pytest.mark.parametrize(
    "text, told",
    [
        (choices.EXAMPLE, "“it” gives 75% to “animal”"),
        ("My grandmother baked a cake and she gave it to me.", "“it” gives 98% to “cake”"),
        (choices.CHINESE, "“它 2/2” gives"),
        ("...", "“...” gives 100%"),
    ],
)
def test_the_row_that_tells_most_is_pinned_and_said_and_never_the_full_stop(visit, text, told):
    page = visit(sentence=text)
    assert told in said_below_heads(page)


def test_every_page_that_exists_has_a_card_and_every_card_a_page(visit):
    names = {row.name for row in PAGES}
    assert names == {path.parent.name for path in PAGES_DIR.glob("*/page_entry.py")}
    links = [link.proto.page for link in visit().main.get("page_link")]
    order = [row.name for row in PAGES if not row.is_home]
    assert links == ["lessons", "explore", "sharing", *order], "three doors, then all in the order of the menu"
    learned = ["lessons", "build", "scaling", "heads", "masks", "positions", "decoding", "fast", "sharing"]
    assert order[: len(learned)] == learned


def test_mask_scale_and_sentence_change_the_numbers(visit):
    own = said_below_heads(visit())
    assert said_below_heads(visit(causal="false")) != own
    assert said_below_heads(visit(scaled="false")) != own
    cold = said_below_heads(visit(start_scale="factor", start_factor="0.0"))
    assert "“it” gives 11% to" in cold, "nine keys share alike"
    changed = {"causal": "false", "start_scale": "inverse", "start_seen": "before"}
    assert said_below_heads(visit(**changed)) == own, "before the change is what the model does"
    page = visit()
    page.text_input(key="sentence").set_value("A cat sat").run()
    assert not page.exception
    said = said_below_heads(page)
    looking, *seen = re.findall(r"“(\w+)”", said)
    assert seen
    assert {looking, *seen} <= {"A", "cat", "sat"}
    assert "animal" not in said


PAINTED_ROW = base64.b64encode(bytes([255] * 22)).decode()  #: 13 tokens by 13, every pair painted
CHANGES = [
    ({"causal": "false"}, "Mask: none, every token may look at every token. Scores times 0.125. Changed in this head"),
    ({"start_mask": "window", "start_window": "3"}, "Mask: a window of 3 tokens. Scores times 0.125."),
    ({"start_scale": "factor", "start_factor": "4.0"}, "Mask: the model's own. Scores times 0.125 × 4."),
    ({"scaled": "false"}, "Mask: the model's own. Scores times 1."),
    ({"start": link_reading.pack({"hide": [1]})}, "No token may look at: animal (1)."),
    ({"start_mask": "painted", "start": link_reading.pack({"mask": PAINTED_ROW})}, "Mask: painted by hand."),
]


def captions(page) -> list[str]:
    gathering = Gathering(None)
    page.session_state[GATHERING] = gathering
    page.run()
    assert not page.exception
    assert len(gathering.offers) == 2
    return [offer.caption for offer in gathering.offers]


@pytest.mark.parametrize("changed, said", CHANGES)
def test_an_exported_picture_says_what_is_changed(visit, changed, said):
    assert all(caption.startswith("Trained: ") and said in caption for caption in captions(visit(**changed)))
    less = captions(visit(**changed, start_seen="difference"))
    assert all("After the change minus before it. " in caption and said in caption for caption in less)


@pytest.mark.parametrize("changed", [{}, {"causal": "false", "start_seen": "before"}])
def test_an_exported_picture_says_nothing_of_a_change_that_is_not_seen(visit, changed):
    assert all("Mask" not in caption for caption in captions(visit(**changed)))


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_sentence_is_explained_and_the_cards_stay(visit, text):
    page = visit()
    page.text_input(key="sentence").set_value(text).run()
    assert not page.exception
    assert "empty" in page.error[0].value
    assert page.get("page_link")


def test_markup_in_the_sentence_is_never_markup(visit):
    page = visit()
    page.text_input(key="sentence").set_value("<img src=x onerror=alert(1)> $x$ **y**").run()
    assert not page.exception
    assert not any("<img" in m.value or "**y**" in m.value for m in page.markdown)


def test_a_chinese_reader_is_offered_the_sentence_in_chinese_and_told_how_well_it_is_read(visit):
    page = visit(lang="zh")
    page.button(key="start-other-script").click().run()
    assert not page.exception
    assert page.text_input(key="sentence").value == choices.CHINESE
    assert "15 characters are 29 tokens, 24 of which" in page.caption[0].value
    assert "in English is 13 tokens and 49 nats" in page.caption[0].value
    assert "“它 2/2” gives" in said_below_heads(page)
    page.button(key="start-other-script").click().run()
    assert page.text_input(key="sentence").value == choices.EXAMPLE
    assert not any("bytes of a character" in each.value for each in page.caption)


def test_an_english_reader_of_a_chinese_sentence_is_told_so_and_offered_no_button(visit):
    page = visit(sentence="北京")
    assert "2 characters are 4 tokens, 4 of which" in page.caption[0].value
    assert "in English" not in page.caption[0].value.partition("mostly from English")[2]
    assert "start-other-script" not in [button.key for button in page.button]
