"""Margins that a chart begins with: as wide as its labels, by its own numbers, and never narrower than they were.

Whether they hold in a browser is asked in tests/browser/test_every_view.py.
"""

import numpy as np
import plotly.graph_objects as go

from attnviz.figures import heatmap
from attnviz.figures.label_room import keep_room
from attnviz.figures.theme import layout


def line(values, **axis):
    fig = go.Figure(go.Scatter(x=list(range(len(values))), y=values))
    fig.update_yaxes(**axis)
    return layout(fig, height=330)


def left(values, **axis):
    return keep_room(line(values, **axis)).layout.margin.l


def test_what_stands_beside_an_axis_gets_as_much_room_as_it_takes():
    assert left([0, 5]) < left([0, 500]) < left([0, 5000])
    assert left([0, 0.5]) < left([0, 0.005])
    assert left([0, 1], tickformat=".0%") > left([0, 100]), "a share has a sign"
    assert left([0, 5], title_text="score") - left([0, 5]) > 30
    powers = {"type": "log", "exponentformat": "power", "dtick": 1}
    assert left([1e-16, 1], **powers) > left([1, 1e3], **powers), "powers of ten are reckoned by their exponents"
    assert left([0, 1], tickvals=[0, 1], ticktext=["a", "a name of several words"]) > 140
    assert left([0, 5000], showticklabels=False) == 8, "nobody sees the labels"
    assert left([0.0, -1.0], type="log") >= 8, "nothing on a log axis is no error"


def test_tokens_that_do_not_fit_beside_each_other_lean_and_reach_higher():
    short, long = ["a"] * 11, ["because"] * 11
    low, high = (keep_room(heatmap.matrix(np.eye(11), rows, rows)).layout for rows in (short, long))
    assert high.margin.t > low.margin.t + 20
    assert low.xaxis.title.text is low.yaxis.title.text is None, "no place is kept for titles that there are not"
