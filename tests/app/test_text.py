import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.app.text import headline, plain, quoted, spoken, unmarked, with_minus
from attnviz.base.message import Message

NASTY = [
    "<img src=x onerror=alert(1)>", "$x$ **y**", "`code`", "[a](b)", ":red[x]", "# title", "1. a", "\\", "a_b_c",
    "~~x~~",
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
def test_no_character_that_markdown_reads_is_left(text):
    made = plain(text)
    assert not re.search(r"[<>*_`$\[\]\\#~]", re.sub(r"&#\d+;", "", made))


@given(st.text(alphabet=st.characters(exclude_characters="\r\n\t"), max_size=60))
def test_a_browser_reads_back_exactly_what_was_typed(text):
    assert html.unescape(plain(text)) == text


def test_white_space_is_visible():
    assert plain("a\nb\tc") == "a ↵ b ⇥ c"
    assert quoted("  ") == "*␣*"


def test_values_in_a_message_are_shown_as_typed():
    said = spoken(Message("{token} gives {share:.0%}", {"token": "**x**", "share": 0.5}))
    assert "**" not in said
    assert said.endswith("gives 50%")


@pytest.mark.parametrize(
    "markdown, text",
    [
        ("The mask keeps **55%** of *it*: 1,000 scores.", "The mask keeps 55% of “it”: 1,000 scores."),
        ("To “*the*” *“pushing”* leads", "To “the” “pushing” leads"),
        ("*中文*把 70% 给了*noir*。", "“中文”把 70% 给了“noir”。"),
        (r"$q \cdot k$ grows like $\sqrt{d_k}$, so $\frac{1}{2}$", "q · k grows like √d_k, so 1/2"),
        ("see [the paper](https://arxiv.org/abs/1706.03762), `softmax`", "see the paper, softmax"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
    ],
)
def test_a_caption_loses_its_markdown_and_nothing_else(markdown, text):
    assert unmarked(markdown) == text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40))
def test_what_a_visitor_typed_stays_as_typed_in_a_caption(typed):
    assert unmarked(f"**“{plain(typed)}”** gives 61%") == f"“{typed}” gives 61%"


def test_a_token_from_the_right_leaves_the_numbers_of_its_sentence_where_they_belong():
    said = spoken(Message("“{token}” gives {share:.0%} to “{key}”", {"token": "س (3)", "share": 0.31, "key": "mat"}))
    assert said.startswith("“\u2068س ")
    assert "\u2069” gives 31% to “mat”" in said
    assert quoted("قط") == "*\u2068قط\u2069*"
    assert quoted("mat") == "*mat*"


def test_numbers_below_zero_have_a_minus_and_words_keep_their_hyphen():
    assert (
        with_minus("From -3.5 to 8, 5e-07 at most, half-split, 2026-11")
        == "From −3.5 to 8, 5e−07 at most, half-split, 2026-11"
    )


@pytest.mark.parametrize(
    "text, title, rest",
    [
        ("At d_k = 64 it is 0.22 nats. For large n, 2.38.", "At d_k = 64 it is 0.22 nats", "For large n, 2.38."),
        ("Random, seed 0. The row gives 98.3% to one key.", "The row gives 98.3% to one key", "Random, seed 0."),
        ("“it” gives 70% to “animal”.", "“it” gives 70% to “animal”", ""),
        ("头 1 把它的一半权重给了“动物”。其余的给了别的词。", "头 1 把它的一半权重给了“动物”", "其余的给了别的词。"),
        ("One. Two.", "One", "Two."),
        (f"{'long ' * 24}long; the rest.", f"{'long ' * 24}long", "The rest."),
        ("", "", ""),
    ],
)
def test_a_headline_is_the_first_sentence_that_tells_something(text: str, title: str, rest: str) -> None:
    assert headline(text) == (title, rest)
