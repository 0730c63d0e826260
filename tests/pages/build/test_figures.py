"""The building page's figures: a fixed scale, words as typed, and every number drawn."""

import re

import numpy as np

from attnviz.figures import title_lines
from attnviz.figures.attention_figures import side_by_side
from attnviz.pages.build import figures

WORDS = ["<b>", "the", "the"]
WEIGHTS = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.1, 0.8]])


def test_weights_side_by_side_share_one_scale_and_equal_words_stay_apart_and_markup_shows_as_typed() -> None:
    fig = side_by_side([("before", WEIGHTS), ("after", WEIGHTS.T)], WORDS, WORDS)
    assert [(t.zmin, t.zmax) for t in fig.data] == [(0, 1), (0, 1)]
    assert [bool(t.showscale) for t in fig.data] == [False, True]
    np.testing.assert_allclose(fig.data[1].z, WEIGHTS.T, atol=1e-6)
    assert list(fig.layout.xaxis.tickvals) == [0, 1, 2]
    assert list(fig.layout.xaxis.ticktext) == ["&lt;b&gt;", "the", "the"]


def test_a_square_on_a_patch_is_as_large_as_its_weight_and_stands_in_its_middle() -> None:
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [1.0, 0.0, 0.0, 0.0]])
    fig = figures.looks(np.ones((2, 1)), weights, ["a"], np.zeros((4, 4)))
    for shape, head in zip(fig.layout.shapes, weights, strict=True):
        corners = np.array(re.findall(r"M(\S+?),(\S+?)H(\S+?)V(\S+?)H", shape.path), float)
        left, top, right, bottom = corners.T
        np.testing.assert_allclose((right - left) * (bottom - top), 4 * head, atol=1e-3)
        np.testing.assert_allclose((left + right) / 2, [0.5, 2.5, 0.5, 2.5], atol=1e-3)
        np.testing.assert_allclose((top + bottom) / 2, [0.5, 0.5, 2.5, 2.5], atol=1e-3)


def test_the_names_of_the_sums_take_two_lines_of_a_phone_at_most() -> None:
    fig = figures.sums(np.ones(3), np.ones(3), WORDS, WORDS)
    title_lines.break_titles(fig)
    assert [note.text.count("<br>") <= 1 for note in fig.layout.annotations if note.text] == [True, True]
