"""Titles of charts in lines: nothing lost, nothing broken that fits, Chinese as Chinese is broken."""

import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from attnviz.figures.theme import layout
from attnviz.figures.title_lines import above, balanced, break_titles, in_lines, one_line

LONG = "the gradient norm at the first token, by distance from the last one, before training"
CHINESE = "训练之前，第一个词元处的梯度范数随它与最后一个词元之间的距离而变化的情况（对数坐标），共七层网络"


@pytest.mark.parametrize(
    "text", [LONG, CHINESE, "softmax", "自注意力 self-attention 与循环网络的比较：每层参数量和每个词元的运算量"]
)
def test_a_broken_title_is_the_same_title_when_it_is_joined(text: str):
    broken = in_lines(text, 160, 13)
    assert one_line(broken) == text
    assert ("<br>" in broken) == (len(text) > 10)
    assert not any(line[0] in "，、）：" or line[-1] == "（" for line in broken.split("<br>"))


def test_a_title_that_fits_stays_one_line_and_markup_is_left_alone():
    assert in_lines("key position", 280, 13) == "key position"
    assert in_lines("<b>" + LONG + "</b>", 100, 13) == "<b>" + LONG + "</b>"


def test_lines_are_as_few_as_they_can_be_and_of_one_length():
    lines = balanced(LONG, 50)
    assert len(lines) == -(-len(LONG) // 50)
    assert max(map(len, lines)) - min(map(len, lines)) < 12


def test_the_room_above_a_chart_grows_with_its_title():
    short, long = (layout(go.Figure(), title, 300) for title in ("short", LONG))
    assert long.layout.margin.t > short.layout.margin.t + 15
    assert long.layout.title.text.count("<br>") >= 1


def test_titles_of_plots_side_by_side_share_the_width():
    fig = layout(make_subplots(1, 3, subplot_titles=["attention of the words", "entropy", LONG]), height=300)
    assert [("<br>" in note.text) for note in fig.layout.annotations] == [True, False, True]
    assert above(fig, 30) > 30 + 16 * 3


def test_breaking_again_changes_nothing_but_leaves_the_room_that_there_is():
    fig = go.Figure(go.Scatter(y=[1, 2], name=LONG)).update_xaxes(title_text=LONG)
    fig = layout(fig, height=300)
    titles = (fig.layout.xaxis.title.text, fig.data[0].name)
    assert all(title.count("<br>") >= 1 for title in titles)
    break_titles(fig)
    assert (fig.layout.xaxis.title.text, fig.data[0].name) == titles
