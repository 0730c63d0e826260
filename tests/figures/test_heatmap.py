import numpy as np
import pytest

from attnviz.figures.chart import axis, chart, line
from attnviz.figures.heatmap import label, matrix
from attnviz.figures.label_room import add_label_room, text_width
from attnviz.figures.theme import SERIES


def test_equal_tokens_never_merge_and_markup_in_one_is_escaped():
    tokens = ["the", "cat", "the", "cat"]
    fig = matrix(np.eye(4), tokens, tokens)
    assert list(fig.layout.xaxis.tickvals) == [0, 1, 2, 3]
    assert list(fig.layout.xaxis.ticktext) == tokens
    assert fig.layout.xaxis.type == "linear"
    assert label("<s>") == "&lt;s&gt;"
    assert label("   ") == "␣␣␣"


@pytest.mark.parametrize("kind, ends", [("weights", (0, 1)), ("scores", (-3, 3)), ("plain", (-3, 1))])
def test_weights_are_on_one_scale_and_scores_centred_on_zero(kind, ends):
    heat = matrix(np.array([[-3.0, 1.0]]), "a", "ab", kind=kind).data[-1]
    assert (heat.zmin, heat.zmax) == ends


def test_masked_cells_are_on_no_scale():
    mask = np.array([[False, True], [False, False]])
    fig = matrix(np.eye(2), "ab", "ab", masked=mask)
    grey, heat = fig.data
    assert grey.showscale is False
    assert np.isnan(heat.z[0][1])
    assert grey.z[0][1] == 1
    assert np.isnan(grey.z[1][0])


def test_long_tokens_stand_tilted_above_a_matrix_and_have_their_room():
    short, long = (
        add_label_room(matrix(np.eye(20), [word] * 20, [word] * 20, height=420)) for word in ("a", "word" * 4)
    )
    assert short.layout.margin.t < 40
    assert long.layout.margin.t > 0.87 * text_width("word" * 4, 12)
    assert long.layout.margin.r > short.layout.margin.r + 20, "the last one leans over the edge"
    numbers = chart([line([0, 9], [0, 1], None, SERIES[0])], axis(None, side="top"), height=300)
    assert 20 < add_label_room(numbers).layout.margin.t < 60, "numbers above a chart stand upright"


def test_the_last_number_of_an_axis_has_room_beyond_the_plot():
    margins = []
    for end in (2, 2_000_000_000):
        fig = chart([line([0, end], [0, 1], None, SERIES[0])], axis(None, range=[0, end], tickformat=","), height=300)
        fig.layout.margin.r = 0
        margins.append(add_label_room(fig).layout.margin.r)
    assert margins[1] > margins[0] + 10
