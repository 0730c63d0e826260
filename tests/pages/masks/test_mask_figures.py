import numpy as np

from attnviz.pages.masks import figures

WORDS = ["<s>", "a", "a", "b"]


def test_hops_beyond_the_chosen_layer_are_off_the_scale():
    layers = np.array([[0, -1], [3, 0]])
    near, far = figures.hops(layers, WORDS[:2], 2), figures.hops(layers, WORDS[:2], 3)
    assert np.isnan(near.data[-1].z[1, 0])
    assert far.data[-1].z[1, 0] == 3
    assert (near.data[-1].zmin, far.data[-1].zmax) == (0, 3)


def test_tiles_are_coloured_by_square_root_and_labelled_by_share():
    fig = figures.far(np.array([[0.25, 0.0], [1.0, 0.04]]), 128)
    np.testing.assert_allclose(fig.data[-1].z[1], [1.0, 0.2])
    assert np.isnan(fig.data[-1].z[0, 1])
    assert fig.data[-1].customdata[0, 0] == 0.25
    assert fig.layout.xaxis.ticktext[-1] == "128"


def test_reach_marks_the_layer_that_was_asked_for():
    counts = np.array([[1, 1], [1, 2], [1, 2]])
    fig = figures.reach(counts, 2, 1)
    assert list(fig.data[0].y) == [1, 2, 2]
    assert list(fig.data[1].y) == [1, 1.5, 1.5]
    assert fig.layout.shapes[0].x0 == 1


def test_losses_show_three_models_and_the_blind_guess():
    steps = np.arange(3)
    fig = figures.losses(steps, steps + 1.0, steps + 2.0, steps + 3.0, 2.3, 10)
    assert len(fig.data) == 3
    assert fig.layout.shapes[0].y0 == 2.3
    assert tuple(fig.layout.xaxis.range) == (0, 10)


def test_learnt_weights_leave_hidden_places_grey():
    fig = figures.places(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert np.isnan(fig.data[-1].z[0, 1])
