import base64
from typing import Any

import pytest

from attnviz.app.exports import GATHERING, FigureCollector, to_csv
from attnviz.app.links import link_reading
from attnviz.pages.home import choices


def test_the_first_screen_has_a_computed_picture_and_says_what_it_shows(visit):
    page = visit()
    head = next(one.proto.bytes for one in page.get("bidi_component") if one.proto.bytes)
    assert b"Trained: SmolLM2 135M Instruct (4-bit), layer" in head
    assert b'"story":true' in head.replace(b" ", b"")


def offers(page) -> list[Any]:
    """What the page offers to be saved."""
    gathering = FigureCollector(None)
    page.session_state[GATHERING] = gathering
    page.run()
    assert not page.exception
    assert len(gathering.offers) == 2
    return gathering.offers


def exported(page) -> str:
    """The numbers of the first picture."""
    table = offers(page)[0].table
    return to_csv(table() if callable(table) else table)


def test_mask_scale_and_sentence_change_the_numbers(visit):
    own = exported(visit())
    assert exported(visit(causal="false")) != own
    assert exported(visit(scaled="false")) != own
    page = visit()
    page.text_input(key="sentence").set_value("A cat sat").run()
    said = exported(page)
    assert "cat" in said
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
    return [offer.caption for offer in offers(page)]


@pytest.mark.parametrize("changed, said", CHANGES)
def test_an_exported_picture_says_what_is_changed(visit, changed, said):
    assert all(caption.startswith("Trained: ") and said in caption for caption in captions(visit(**changed)))
    less = captions(visit(**changed, start_seen="difference"))
    assert all("After the change minus before it. " in caption and said in caption for caption in less)


def test_a_chinese_reader_is_offered_the_sentence_in_chinese_and_told_how_well_it_is_read(visit):
    page = visit(lang="zh")
    page.button(key="start-other-script").click().run()
    assert not page.exception
    assert page.text_input(key="sentence").value == choices.CHINESE
    assert "15 characters are 29 tokens, 24 of which" in page.caption[0].value
    assert "in English is 13 tokens and 49 nats" in page.caption[0].value
    page.button(key="start-other-script").click().run()
    assert page.text_input(key="sentence").value == choices.EXAMPLE
    assert not any("bytes of a character" in each.value for each in page.caption)
