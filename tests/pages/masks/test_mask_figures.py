"""Figures of the mask page's training, which no kept link begins; its others are held by tests/links."""

import numpy as np

from attnviz.pages.masks import figures


def test_losses_show_three_models_and_the_blind_guess():
    steps = np.arange(3)
    fig = figures.losses(steps, steps + 1.0, steps + 2.0, steps + 3.0, 2.3, 10)
    assert len(fig.data) == 3
    assert fig.layout.shapes[0].y0 == 2.3
    assert tuple(fig.layout.xaxis.range) == (0, 10)


def test_learnt_weights_leave_hidden_places_grey():
    fig = figures.places(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert np.isnan(fig.data[-1].z[0, 1])
