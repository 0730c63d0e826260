import base64
import re

import pytest

from attnviz.app.links import link_reading
from attnviz.base.head_record import RibbonsState
from attnviz.base.record_json import from_json
from attnviz.pages.home import choices, maths
from tests.pages.conftest import drawn, offers

PAINTED_ROW = base64.b64encode(bytes([255] * 22)).decode()  #: 13 tokens by 13, every pair painted
CHANGES = [
    ({"start_mask": "window", "start_seen": "before"}, "Mask: the model's own. Scores times 0.125."),
    ({"start_mask": "window", "start_window": "3"}, "Mask: a window of 3 tokens. Scores times 0.125."),
    ({"start_scale": "factor", "start_factor": "4.0"}, "Mask: the model's own. Scores times 0.125 × 4."),
    ({"start": link_reading.pack({"hide": [1]})}, "No token may look at: animal (1)."),
    ({"start_mask": "painted", "start": link_reading.pack({"mask": PAINTED_ROW})}, "Mask: painted by hand."),
]


@pytest.mark.parametrize("changed, said", CHANGES)
def test_an_exported_picture_says_what_is_changed(visit, changed, said):
    # ribbons do not show a difference: such a link shows what comes after the change
    (offer,) = offers(visit(**{"start_seen": "after" if "start" in changed else "difference"} | changed))
    assert offer.caption.startswith("Trained: ")
    assert said in offer.caption


@pytest.mark.parametrize(
    "held, state",
    [
        ({"told": ["q", 3, "'t", 1], "head": [2, 4]}, RibbonsState((2, 4), 3, "q", 1)),
        ({"told": ["k", 1, "animal"]}, RibbonsState((13, 8), 1, "k")),
        ({}, RibbonsState(maths.HEAD, 8)),
        ({"told": ["q", 3, "another word"]}, RibbonsState((13, 8), 8)),
        ({"told": ["q", 3, "'t", 99], "head": [30, 0]}, RibbonsState((13, 8), 3)),
    ],
)
def test_a_link_holds_head_word_direction_and_pinned_word(visit, held, state):
    header, _payload = drawn(visit(start=link_reading.pack(held)), "ribbons")
    assert from_json(RibbonsState, header["state"]) == state


def test_a_chinese_reader_is_offered_the_sentence_in_chinese_and_told_how_well_it_is_read(visit):
    page = visit(lang="zh")
    page.button(key="start-other-script").click().run()
    assert not page.exception
    assert page.text_input(key="sentence").value == choices.CHINESE
    told = re.findall(r"\d+", page.caption[0].value.partition("：")[2])
    assert told[:3] == ["15", "29", "24"], "characters, tokens, and those that are a part of a character"
    assert {"13", "49"} <= set(told), "tokens and nats of the sentence in English"
    page.button(key="start-other-script").click().run()
    assert page.text_input(key="sentence").value == choices.EXAMPLE
    assert not any("29" in each.value for each in page.caption)
