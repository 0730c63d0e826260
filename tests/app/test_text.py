import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.app.text import escape_markdown, quote_token, strip_markdown, translate_markdown
from attnviz.base.message import Message

NASTY = [
    "<img src=x onerror=alert(1)>", "$x$ **y**", "`code`", "[a](b)", ":red[x]", "# title", "1. a", "\\", "a_b_c",
    "~~x~~",
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
def test_no_character_that_markdown_reads_is_left(text):
    made = escape_markdown(text)
    assert not re.search(r"[<>*_`$\[\]\\#~]", re.sub(r"&#\d+;", "", made))


@given(st.text(alphabet=st.characters(exclude_characters="\r\n\t"), max_size=60))
def test_a_browser_reads_back_exactly_what_was_typed(text):
    assert html.unescape(escape_markdown(text)) == text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40))
def test_what_a_visitor_typed_stays_as_typed_in_a_caption(typed):
    assert strip_markdown(f"**“{escape_markdown(typed)}”** gives 61%") == f"“{typed}” gives 61%"


def test_a_token_from_the_right_leaves_the_numbers_of_its_sentence_where_they_belong():
    said = translate_markdown(
        Message("“{token}” gives {share:.0%} to “{key}”", {"token": "س (3)", "share": 0.31, "key": "mat"})
    )
    assert said.startswith("“\u2068س ")
    assert "\u2069” gives 31% to “mat”" in said
    assert quote_token("قط") == "*\u2068قط\u2069*"
    assert quote_token("mat") == "*mat*"
