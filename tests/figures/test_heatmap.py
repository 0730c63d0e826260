import numpy as np
import pytest

from attnviz.figures.heatmap import label, matrix


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
