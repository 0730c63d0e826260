"""The pictures of the positions page hold the numbers that they are given."""

import numpy as np
import pytest

from attnviz.pages.positions.figures import rotation, scores, video


def test_an_exact_zero_is_drawn_at_the_edge_of_the_log_axis_and_hovered_as_zero():
    fig = scores.changes(["none", "RoPE"], np.array([0.0, 0.5]), np.array([1e-16, 2.0]))
    assert list(fig.data[0].x) == [scores.FLOOR, 0.5]
    assert list(fig.data[0].customdata) == [0.0, 0.5]
    assert fig.data[1].name == "causal mask"


def test_a_band_is_drawn_only_where_scores_of_one_distance_differ():
    at = np.arange(-2, 3)
    same = scores.over_distance(at, at * 1.0, at * 1.0, at * 1.0)
    apart = scores.over_distance(at, at * 1.0, at - 1.0, at + 1.0, [("head 1", at * 2.0)], stairs=True)
    assert [trace.name for trace in same.data] == ["mean"]
    assert "lowest to highest" in [trace.name for trace in apart.data]
    assert apart.data[0].line.shape == "hvh"
    assert not apart.data[0].showlegend


def test_the_chosen_head_and_the_chosen_scaling_stand_out():
    bars = scores.slopes(np.array([0.5, 0.25, 0.125]), 1).data[0]
    assert bars.marker.color[1] != bars.marker.color[0] == bars.marker.color[2]
    lines = {"none": np.array([6.0, 60.0]), "YaRN": np.array([6.0, 240.0])}
    fig = rotation.wavelengths(lines, "YaRN", 50, 200)
    assert [trace.line.dash for trace in fig.data] == ["dot", "solid"]
    assert {a.text for a in fig.layout.annotations} == {"trained on 50", "wanted: 200"}
    shade = rotation.over_distance(np.array([0.0, 50, 100]), np.ones(3), np.zeros(3), "linear", 40).layout.shapes[0]
    assert (shade.x0, shade.x1) == (40, 100), "lengths that were not trained are shaded"


def test_the_split_of_a_head_names_what_is_left():
    fig = video.split([("time", 20), ("height", 20), ("width", 20)], 4)
    assert [bar.x[0] for bar in fig.data] == [20, 20, 20, 4]
    assert fig.data[-1].name == "not rotated"
    assert len(video.split([("time", 64)], 0).data) == 1


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
