"""Scaled wavelengths against the core's, which are transformers' own; which pairs meet new angles, counted by hand."""

import math

import numpy as np
import pytest

from attnviz.core.rope import NTK, DynamicNTK, Linear, Llama3, YaRN, frequencies, length_factor
from attnviz.pages.positions.maths.rotation import METHODS
from attnviz.pages.positions.maths.rotation import LongerConfig as Config
from attnviz.pages.positions.maths.rotation import compare_scalings as run
from tests.pages.conftest import said, sound


def test_each_method_scales_as_the_core_s_of_its_name():
    methods = run(Config("yarn", 4.0, width=128)).methods
    ours = {"dynamic": DynamicNTK(4.0, 4096, 16384), "yarn": YaRN(4.0, 4096), "llama3": Llama3(4.0, 4096)}
    for method, scaling in (ours | {"linear": Linear(4.0), "ntk": NTK(4.0)}).items():
        assert methods[method].wavelengths == pytest.approx(2 * math.pi / frequencies(128, scaling=scaling).numpy())
        assert methods[method].length == pytest.approx(length_factor(scaling))


def test_the_curve_is_the_mean_of_cosines_over_each_stretch():
    config = Config("linear", 2.0, 50, 8, 100.0)
    result = run(config)
    assert config.target == 100
    assert len(result.distance) == 100
    turns = 100.0 ** (-np.arange(0, 8, 2) / 8)
    for point in (0, 1, 60, 99):
        assert result.distance[point] == point
        assert result.plain[point] == pytest.approx(2 * np.cos(point * turns).sum() / math.sqrt(8))
        assert result.chosen[point] == pytest.approx(2 * np.cos(point * turns / 2).sum() / math.sqrt(8))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [1.0, 128.0])
def test_the_pairs_longer_than_training_are_those_of_the_chosen_scaling(visit, method, factor):
    page = sound(visit("positions", p_section="longer", p_method=method, p_factor=str(factor)))
    waves = run(Config(method, factor, width=64)).methods[method].wavelengths
    assert f" {int((waves > 4096).sum())} pairs take more for their turn than the 4,096 positions" in said(page)


@pytest.mark.parametrize("method", METHODS)
def test_pairs_that_meet_new_angles_are_counted_by_hand(method):
    scaled = run(Config(method, 4.0, 4096, 64)).methods[method]
    count = 0
    for pair, wave in enumerate(scaled.wavelengths):
        trained = 2 * math.pi * 10_000 ** (2 * pair / 64)  # positions for a turn in training
        count += trained > 4096 and 16384 / wave > 4096 / trained * (1 + 1e-9)
    assert scaled.n_new_angles == count
