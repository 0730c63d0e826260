"""Scaled wavelengths against transformers' own functions; which pairs meet new angles, counted by hand."""

import math
from typing import Any

import numpy as np
import pytest
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from attnviz.pages.positions.maths.rotation import METHODS
from attnviz.pages.positions.maths.rotation import LongerConfig as Config
from attnviz.pages.positions.maths.rotation import compare_scalings as run
from tests.pages.conftest import said, sound

ORIGINAL: dict[str, Any] = {"original_max_position_embeddings": 4096}
#: our ids -> transformers' rope_type, and what it needs besides the factor
THEIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "linear": ("linear", {}),
    "dynamic": ("dynamic", {}),
    "yarn": ("yarn", ORIGINAL),
    #: transformers has no NTK; its "dynamic" with factor 1 scales by length over trained length
    "ntk": ("dynamic", {"factor": 1.0}),
    "llama3": ("llama3", ORIGINAL | {"low_freq_factor": 1.0, "high_freq_factor": 4.0}),
}


@pytest.mark.parametrize("method", THEIRS)
@pytest.mark.parametrize("factor", [1.0, 4.0, 9.5])
def test_wavelengths_are_those_of_transformers(method, factor):
    kind, more = THEIRS[method]
    rope = {"rope_type": kind, "rope_theta": 10_000.0, "factor": factor} | more
    config = LlamaConfig(hidden_size=256, num_attention_heads=2, max_position_embeddings=4096, rope_parameters=rope)
    turns, length = ROPE_INIT_FUNCTIONS[kind](config, None, seq_len=round(4096 * factor))
    ours = run(Config(method, factor, width=128)).methods[method]
    assert ours.wavelengths == pytest.approx(2 * math.pi / turns.numpy(), rel=1e-4)
    assert ours.length == pytest.approx(length)


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
@pytest.mark.parametrize("factor", [1.0, 4.0, 8.0, 128.0])
def test_the_pairs_longer_than_training_are_those_of_the_chosen_scaling(visit, method, factor):
    page = sound(visit("positions", p_section="longer", p_method=method, p_factor=str(factor)))
    waves = run(Config(method, factor, width=64)).methods[method].wavelengths
    assert f" {int((waves > 4096).sum())} pairs take more for their turn than the 4,096 positions" in said(page)
