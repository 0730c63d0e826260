import re
from collections import Counter
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import plotly.graph_objects as go
import pytest

from attnviz.figures.chart import axis, chart, line
from attnviz.figures.export import prepare_figure, standalone_html
from attnviz.figures.heatmap import matrix
from attnviz.figures.theme import SERIES
from attnviz.figures.title_lines import text_columns, wrap_text
from attnviz.live.chart_frame import CHART, ChartFrame
from attnviz.live.scene_figure import SceneFigure


@pytest.mark.parametrize("text", ["plain words " * 40, "猫坐在垫子上。" * 40, "http://x/" + "a%20b" * 100, "", "x"])
def test_a_caption_of_any_script_is_broken_and_nothing_of_it_is_lost(text):
    lines = wrap_text(text, 60)
    assert all(text_columns(line) <= 60 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_chart_keeps_its_place_between_title_and_caption_whose_markup_is_text():
    place = SceneFigure((ChartFrame(900, 500),))
    framed = place.to_svg(title="<b>A long title</b>, much longer than a line " * 3, caption="<img src=x> & " * 50)
    assert framed.count(CHART) == place.to_svg().count(CHART) == 1
    before, after = re.sub("<desc>.*?</desc>", "", framed).split(CHART)
    assert "&lt;b&gt;A long title&lt;/b&gt;" in before
    assert "&lt;img src=x&gt; &amp;" in after
    assert "&lt;img" not in before
    assert "<img" not in framed
    lines = [float(y) for y in re.findall(r'<text x="20" y="([\d.]+)"', framed)]
    assert lines == sorted(lines), "title above, caption below"
    assert float(re.search(r' height="(\d+)"', framed)[1]) > max(lines) > 500


HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--",
    "<a href='javascript:alert(1)'>",
]


def test_no_script_comes_into_the_page_of_a_chart_by_what_was_typed():
    class Met(HTMLParser):
        def __init__(self, text):
            super().__init__()
            self.tags, self.handlers = Counter(), []
            self.feed(text)

        def handle_starttag(self, tag, attrs):
            self.tags[tag] += 1
            self.handlers += [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]

    def drawn(words):
        fig = go.Figure(go.Bar(x=words, y=[1, 2, 3, 4], text=words, name=words[0]), layout={"title": words[1]})
        return Met(standalone_html(fig, words[0], words[1]))

    hostile, plain = drawn(HOSTILE), drawn(["one", "two", "three", "four"])
    assert hostile.tags == plain.tags
    assert hostile.handlers == plain.handlers == []


def test_a_chinese_line_ends_between_letters_never_in_a_number_and_begins_with_no_closing_sign():
    lines = wrap_text("它的键是复制出来的。“.”看“.”最多：50%。再长一些的句子（括号里也有字）到此为止。", 18)
    assert "".join(lines) == "它的键是复制出来的。“.”看“.”最多：50%。再长一些的句子（括号里也有字）到此为止。"
    assert all(text_columns(line) <= 18 for line in lines)
    assert any("50%。" in line for line in lines)
    assert not any(line[0] in "，。：）" or line[-1] in "（" for line in lines)


@pytest.mark.parametrize("rows, columns", [(4, 4), (13, 13), (13, 20)])
def test_a_map_of_square_cells_is_saved_as_wide_as_its_cells_are(rows, columns):
    drawn = prepare_figure(matrix(np.full((rows, columns), 0.5), ["a"] * rows, ["b"] * columns)).layout
    side = (drawn.height - drawn.margin.t - drawn.margin.b) / rows
    beside = drawn.width - drawn.margin.l - drawn.margin.r - columns * side
    assert -2 <= beside <= 60, "its bar lies below them"


@pytest.mark.parametrize("background, grid", [("white", "#E6EAF1"), ("dark", "#31333F")])
def test_a_saved_chart_has_the_axes_that_the_page_draws(background, grid):
    """Streamlit's theme draws lines across and none upright; app.css gives labels their grey."""
    drawn = prepare_figure(chart([line([0, 9], [0, 1], None, SERIES[0])], axis("x"), axis("y")), background).layout
    assert (drawn.xaxis.showgrid, drawn.yaxis.showgrid, drawn.yaxis.gridcolor) == (False, None, grid)
    css = (files("attnviz.app") / "app.css").read_text("utf-8")
    greys = re.search(r"fill: light-dark\((#\w+), (#\w+)\)", css[css.index(".xtick") :])
    assert drawn.xaxis.color == drawn.yaxis.color == greys[1 + (background == "dark")].upper()
