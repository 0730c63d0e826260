"""What comes next writes, and what a visitor begins with when asking for more, through the page."""

import pytest

from attnviz.pages.explore.panels import next

START = "The cat sat on the"


class Loaded:
    """Dice that always fall on the likeliest token."""

    def choices(self, found, shares):
        return [max(zip(found, shares, strict=True), key=lambda pair: pair[1])[0]]


@pytest.fixture
def likeliest(monkeypatch):
    monkeypatch.setattr(next, "_draw", Loaded())


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
