"""Softmax against torch and scipy: its limits, its overflow, block by block, and its Jacobian."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from attnviz.pages.scaling.maths import softmax as experiment

FIRST = [2.3, 9.1, 0.5]
scores = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40)


@settings(max_examples=25, deadline=None)
@given(scores, st.floats(0.01, 1e6))
def test_weights_are_those_of_scipy_at_any_temperature(x, temperature):
    assert experiment.weights(x, temperature) == pytest.approx(softmax(np.array(x) / temperature), abs=1e-12)


def test_temperature_0_is_one_hot_with_ties_shared_and_a_very_large_one_is_even():
    assert experiment.weights([1, 3, 3, 2], 0.0).tolist() == [0, 0.5, 0.5, 0]
    assert experiment.weights(FIRST, 1e300) == pytest.approx(1 / 3)
    assert experiment.weights(FIRST, math.inf) == pytest.approx(1 / 3)
    assert experiment.weights([7.0], 0.0).tolist() == [1.0]
    assert experiment.weights([1e9, -1e9], 1e-8).tolist() == [1.0, 0.0]


@settings(max_examples=25, deadline=None)
@given(scores, st.integers(1, 50))
def test_block_by_block_is_equal_to_all_at_once(x, size):
    values = np.random.default_rng(0).normal(size=(len(x), 3))
    *_, last = experiment.online_softmax(x, values, size)
    assert last.output / last.total == pytest.approx(softmax(x) @ values, abs=1e-12)
    assert last.maximum == max(x)
    assert last.total == pytest.approx(np.exp(np.array(x) - max(x)).sum())


def test_overflow_begins_where_each_format_ends():
    found = {one.dtype: one for one in experiment.format_attempts(FIRST)}
    for name, limit in {"float64": 709.78, "float32": 88.72, "bfloat16": 88.72, "float16": 11.09}.items():
        assert found[name].overflow_at == pytest.approx(limit, abs=0.01)
    assert found["float32"].first_broken == pytest.approx(88.72 - 9.1, abs=0.02)
    assert found["float64"].first_broken == pytest.approx(709.78 - 9.1, abs=0.02)
    assert found["float16"].first_broken < 2.01
    assert np.isnan(found["float16"].naive_top[-1])
