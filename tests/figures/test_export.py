from __future__ import annotations

import numpy as np
import pytest

from attnviz.figures import attention_figures
from attnviz.figures.export import prepared, wide, wrapped
from attnviz.figures.heatmap import rooted
from attnviz.figures.theme import WEIGHTS


def head(count, **more):
    tokens = [f"token{i}" for i in range(count)]
    return attention_figures.head(np.eye(count), tokens, tokens, title="A head", **more)


@pytest.mark.parametrize("text", ["plain words " * 40, "猫坐在垫子上。" * 40, "http://x/" + "a%20b" * 100, "", "x"])
def test_a_caption_of_any_script_is_broken_and_nothing_of_it_is_lost(text):
    lines = wrapped(text, 60)
    assert all(wide(line) <= 60 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_every_token_of_a_figure_for_paper_is_written_in_full_up_to_three_hundred():
    fig = prepared(head(200))
    assert list(fig.layout.xaxis.ticktext) == [f"token{i}" for i in range(200)]
    assert fig.layout.width > 200 * 10
    assert sum(bool(text) for text in prepared(head(1024)).layout.yaxis.ticktext) <= 300


def test_title_caption_and_labels_each_have_their_room():
    bare = prepared(head(12))
    full = prepared(head(12), title="A long title, much longer than one line of it " * 3, caption="word " * 100)
    assert full.layout.margin.t >= bare.layout.margin.t + 72
    assert full.layout.margin.b > bare.layout.margin.b + 60
    room = [fig.layout.height - fig.layout.margin.t - fig.layout.margin.b for fig in (bare, full)]
    assert room[1] == pytest.approx(room[0], abs=40), "the matrix does not shrink for the words around it"


def test_markup_in_title_and_caption_is_escaped():
    fig = prepared(head(3), title="<b>x</b>", caption="<img src=x>")
    assert fig.layout.title.text == "&lt;b&gt;x&lt;/b&gt;"
    assert fig.layout.annotations[0].text == "&lt;img src=x&gt;"


def test_square_root_colours_reach_each_colour_at_the_square_of_its_place():
    scale = dict(rooted(WEIGHTS, 20))
    assert scale[0.0] == WEIGHTS[0][1]
    assert scale[1.0] == WEIGHTS[-1][1]
    assert scale[min(scale, key=lambda at: abs(at - 0.75**2))] == "#F0685F"


def test_masked_cells_of_the_mosaic_are_grey_and_the_gaps_are_empty():
    tile = np.array([[1.0, np.nan], [0.5, 0.5]])
    grey, heat = attention_figures.mosaic(np.stack([tile] * 4), [2, 2]).data
    assert np.nansum(grey.z) == 4
    assert heat.zmax == 1
    assert grey.showscale is False
