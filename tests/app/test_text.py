"""What a page writes of what was typed: Markdown, captions, CSV, titles of charts, and the code that embeds a page."""

import csv
import html
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attnviz.app.exports import ExportOffer, to_csv
from attnviz.app.share_menu import embed_code
from attnviz.app.text import escape_markdown, quote_token, strip_markdown, translate_markdown
from attnviz.base.message import Message
from attnviz.live.scene_figure import SceneFigure

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


def test_columns_become_csv_that_reads_back_and_what_a_spreadsheet_would_run_is_disarmed():
    text = to_csv({"token": ["a,b", 'say "x"', "猫", "=1+1"], "weight": [0.1, 0.25, 1e-9, 1]})
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["token"] for row in rows] == ["a,b", 'say "x"', "猫", "'=1+1"]
    assert [float(row["weight"]) for row in rows] == [0.1, 0.25, 1e-9, 1]


def drawn(words: str, caption: str | None, title: str | None) -> None:
    import plotly.graph_objects as go
    import streamlit as st

    from attnviz.app import exports, show
    from attnviz.app.page_entry import LOOK, Page
    from attnviz.app.page_parts import draw_heading

    st.session_state["gathering"] = st.session_state[exports.GATHERING] = exports.FigureCollector("a-chart")
    draw_heading(Page("x", "X", "Why divide", ":material/key:", LOOK, "Why?"))
    fig = go.Figure(go.Bar(y=[1]))
    fig.update_layout(xaxis_title="d_k", yaxis_title="variance", title_text=title)
    show.figure(fig, name="a-chart", key="a", sentence=words, caption=caption)


BOLD = "The cache holds **3** bytes."
SOURCE = "**Scores are random (seed 0).** One key gets 98% of the weight."


@pytest.mark.parametrize(
    "given, title, caption",
    [
        ((BOLD, None, None), "The cache holds 3 bytes", ""),
        ((BOLD, "Its own", None), "The cache holds 3 bytes", "Its own"),
        (("It is $\\frac{1}{2}$.", None, None), "It is 1/2", ""),
        (("", None, None), "Why divide", ""),
        ((SOURCE, SOURCE, None), "One key gets 98% of the weight", "Scores are random (seed 0)."),
    ],
)
def test_a_chart_leaves_under_its_title_or_the_first_sentence_about_it_or_the_page_s_heading(
    given: tuple[str, str | None, str | None], title: str, caption: str
) -> None:
    app = AppTest.from_function(drawn, args=given, default_timeout=60).run()
    assert not app.exception
    figure = app.session_state["gathering"].figure
    assert (figure.title, figure.caption) == (title, caption)


def test_the_sentence_below_a_picture_with_a_title_of_its_own_is_the_caption_of_its_files():
    picture = ExportOffer(SceneFigure((), "Step 3"), "step", "step", sentence="The cache holds **3** bytes.")
    assert (picture.prepare().title, picture.prepare().caption) == ("Step 3", "The cache holds 3 bytes.")


PUBLIC = "https://attention.example/explore"


def frame(code: str) -> dict[str, str]:
    (inside,) = re.fullmatch(r"<iframe ([^<>]*)></iframe>", code).groups()
    return {name: html.unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', inside)}


@pytest.mark.parametrize(
    "address, source",
    [
        (f"{PUBLIC}?text=a%26b&at=3.1", f"{PUBLIC}?text=a%26b&at=3.1&embed=true"),
        (f'{PUBLIC}?text="><script>', f'{PUBLIC}?text="><script>&embed=true'),
    ],
)
def test_the_code_is_one_frame_with_the_view_and_without_the_bar(address, source):
    made = frame(embed_code(address, 'A "title" <b>'))
    assert made["src"] == source
    assert made["title"] == 'A "title" <b>'
