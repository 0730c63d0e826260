"""The pictures of the positions page hold the numbers that they are given."""

import numpy as np
import pytest

from attnviz.pages.positions.figures import scores, video


def test_a_band_is_drawn_only_where_scores_of_one_distance_differ():
    at = np.arange(-2, 3)
    same = scores.over_distance(at, at * 1.0, at * 1.0, at * 1.0)
    apart = scores.over_distance(at, at * 1.0, at - 1.0, at + 1.0, [("head 1", at * 2.0)], stairs=True)
    assert [trace.name for trace in same.data] == ["mean"]
    assert "lowest to highest" in [trace.name for trace in apart.data]
    assert apart.data[0].line.shape == "hvh"
    assert not apart.data[0].showlegend


@pytest.mark.parametrize("frames, shown", [(1, 1), (3, 3), (20, 8)])
def test_frames_are_those_around_the_querys_and_relative_to_its_score(frames, shown):
    scores = np.arange(frames * 6, dtype=float).reshape(frames, 2, 3)
    at = (frames - 1, 1, 2)
    fig = video.frames(scores, at)
    heats = [trace for trace in fig.data if trace.type == "heatmap"]
    assert len(heats) == shown
    assert heats[-1].z[1][2] == 0
    assert heats[-1].z[0][0] == pytest.approx(scores[-1, 0, 0] - scores[at])
    marks = [trace for trace in fig.data if trace.type == "scatter"]
    assert [(trace.x[0], trace.y[0]) for trace in marks] == [(2, 1)]
