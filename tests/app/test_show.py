import csv
import io

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.exports import to_csv


def test_columns_become_csv_that_reads_back():
    text = to_csv({"token": ["a,b", 'say "x"', "猫"], "weight": [0.1, 0.25, 1e-9]})
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["token"] for row in rows] == ["a,b", 'say "x"', "猫"]
    assert [float(row["weight"]) for row in rows] == [0.1, 0.25, 1e-9]


def test_a_cell_that_a_spreadsheet_would_run_is_disarmed():
    assert "'=1+1" in to_csv({"token": ["=1+1"]})


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


@pytest.mark.parametrize(
    "given, title, caption",
    [
        ((BOLD, None, None), "The cache holds 3 bytes", ""),
        ((BOLD, "Its own", None), "The cache holds 3 bytes", "Its own"),
        (("It is $\\frac{1}{2}$.", None, None), "It is 1/2", ""),
        (("", None, None), "Why divide", ""),
        ((BOLD, None, "Bytes"), "Bytes", "The cache holds 3 bytes."),
        (("", "Its own", "Bytes"), "Bytes", "Its own"),
    ],
)
def test_a_chart_leaves_under_its_title_or_the_first_sentence_about_it_or_the_page_s_heading(
    given: tuple[str, str | None, str | None], title: str, caption: str
) -> None:
    app = AppTest.from_function(drawn, args=given, default_timeout=60).run()
    assert not app.exception
    figure = app.session_state["gathering"].figure
    assert (figure.title, figure.caption) == (title, caption)
