"""RoPE over a video: the split of a head, and scores against complex numbers for each axis."""

import math

import numpy as np
import pytest

from attnviz.base.message import Problem
from attnviz.pages.positions.maths.video_axes import Config, run


def by_hand(config, rotated):
    """Scores of the query's patch by e^{i theta distance}, axis by axis; what is not rotated adds 1 a number."""
    grid = np.stack(np.meshgrid(*map(np.arange, (config.frames, config.height, config.width)), indexing="ij"), -1)
    score = np.full(grid.shape[:3], float(config.d_head - sum(rotated)))
    for axis, width in enumerate(rotated):
        for i in range(width // 2):
            angle = (grid[..., axis] - config.at[axis]) * config.base ** (-2 * i / width)
            score += ((1 + 1j) * np.conj(1 + 1j) * np.exp(1j * angle)).real
    return score / math.sqrt(config.d_head)


@pytest.mark.parametrize(
    "config, rotated, left",
    [
        (Config("rest"), (24, 20, 20), 0),
        (Config("rest", 128), (44, 42, 42), 0),
        (Config("quarter"), (16, 24, 24), 0),
        (Config("thirds"), (20, 20, 20), 4),
        (Config("thirds", 128), (42, 42, 42), 2),
        (Config("own"), (22, 20, 20), 2),
        (Config("own", 64, (0, 31, 2)), (0, 30, 2), 32),
        (Config("own", 64, (1, 1, 0)), (0, 0, 0), 64),
    ],
)
def test_only_whole_pairs_are_rotated_and_the_rest_carries_no_position(config, rotated, left):
    result = run(config)
    assert (result.rotated, result.left) == (rotated, left)
    assert result.scores == pytest.approx(by_hand(config, rotated), abs=1e-12)
    assert result.shifted < 1e-12
    assert result.scores[config.at] == pytest.approx(math.sqrt(config.d_head))


def test_an_axis_without_numbers_cannot_be_told_apart():
    result = run(Config("own", 64, (0, 32, 32)))
    assert result.twins == 2, "the same patch in the two other frames"
    assert result.scores[0] == pytest.approx(result.scores[2])
    assert run(Config("rest")).twins == 0
    assert run(Config("own", 64, (0, 0, 0))).twins == 3 * 6 * 8 - 1


def test_one_number_for_each_patch_takes_the_row_below_for_far_away():
    result = run(Config("flat"))
    config = result.config
    distance = np.arange(3 * 6 * 8).reshape(3, 6, 8) - (1 * 48 + 2 * 8 + 3)
    theta = config.base ** (-np.arange(0, 64, 2) / 64)
    assert result.scores == pytest.approx(2 * np.cos(distance[..., None] * theta).sum(-1) / 8, abs=1e-12)
    t, y, x = config.at
    assert result.scores[t, y + 1, x] < result.scores[t, y, x + 1] - 1
    axial = run(Config("quarter")).scores
    assert axial[t, y + 1, x] == pytest.approx(axial[t, y, x + 1]), "height and width have the same share here"


@pytest.mark.parametrize(
    "config, sentence",
    [
        (Config("own", 64, (30, 30, 30)), r"need 30 \+ 30 \+ 30 = 90 numbers, and the head has 64"),
        (Config(d_head=7), "d_head=7 must be even"),
        (Config(at=(3, 0, 0)), "time=3 must lie between 0 and 2"),
        (Config(frames=64, height=64, width=64, at=(0, 0, 0)), "64 × 64 × 64 patches are more than 4,096"),
        (Config("halves"), "halves must be one of rest"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(config, sentence):
    with pytest.raises(Problem, match=sentence):
        run(config)


def test_a_head_of_two_numbers_and_a_video_of_one_patch_work():
    for split in ("rest", "quarter", "thirds", "flat"):
        result = run(Config(split, 2, frames=1, height=1, width=1, at=(0, 0, 0)))
        assert result.scores.shape == (1, 1, 1)
        assert result.scores[0, 0, 0] == pytest.approx(math.sqrt(2))
