"""Raw scores there and back: how far weights are off at most, and that nothing else is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.base import raw_scores
from attnviz.base.head_record import HeadData
from tests.js.browser_cases import decoded

AT_THE_MODELS_SCALE, AT_TEN_TIMES = 2e-4, 2e-3


def softmax(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Weights in float64; a row that may see nothing is 0."""
    masked = np.where(allowed, scores.astype(np.float64), -np.inf)
    largest = np.max(masked, -1, keepdims=True)
    powers = np.exp(masked - np.where(np.isfinite(largest), largest, 0))
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total > 0, total, 1)


def head(scores: np.ndarray, scale: float = 0.125, **more: object) -> HeadData:
    scores = np.asarray(scores, np.float32)
    return HeadData(scores, np.ones(scores.shape, bool), scale, 64, **more)  # type: ignore[arg-type]


def furthest(sent: np.ndarray, read: np.ndarray, allowed: np.ndarray, scale: float) -> float:
    return float(np.abs(softmax(sent * scale, allowed) - softmax(read * scale, allowed)).max(initial=0))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(1, 40)),
    spread=st.sampled_from([0.0, 1e-6, 1.0, 30.0, 400.0, 3000.0]),
    offset=st.sampled_from([0.0, -700.0, 5000.0]),
    scale=st.sampled_from([0.0625, 0.125, 1.0, -0.5]),
)
def test_no_weight_is_off_by_more_than_is_promised(seed, shape, spread, offset, scale):
    rng = np.random.default_rng(seed)
    scores = (rng.normal(offset, spread, shape) * rng.choice([1.0, 10.0], shape)).astype(np.float32)
    read = decoded(*raw_scores.pack([head(each, scale) for each in scores]))
    for allowed in (np.ones(shape, bool), rng.random(shape) < 0.5, scores < scores.max(-1, keepdims=True)):
        rounding = 4 * np.spacing(np.abs(scores).max()) * abs(scale)  # float32 itself
        assert furthest(scores, read, allowed, scale) <= AT_THE_MODELS_SCALE + rounding
        assert furthest(scores, read, allowed, 10 * scale) <= AT_TEN_TIMES + 10 * rounding


@pytest.mark.parametrize("width", [0.999, 1.001])
def test_the_promise_holds_where_16_bits_only_just_do(width):
    """The worst there is: two keys share the weight, and their scores are rounded half a step apart."""
    step = width * raw_scores.WIDEST / raw_scores.STEPS_16
    scores = np.array([[0.0, width * raw_scores.WIDEST, *(step * (30000 + np.linspace(0, 2, 41)))]])
    allowed = np.ones(scores.shape, bool)
    allowed[:, :2] = False
    read = decoded(*raw_scores.pack([head(scores, 1.0)]))[0]
    sent = scores.astype(np.float32)
    assert furthest(sent, read, allowed, 1.0) <= AT_THE_MODELS_SCALE
    assert furthest(sent, read, allowed, 10.0) <= AT_TEN_TIMES


def test_a_row_wider_than_16_bits_can_tell_has_24():
    rows = np.array([[0, 1, 2], [0, 5000, 2], [7, 7, 7]], np.float32)
    header, payload = raw_scores.pack([head(rows)])
    narrow = raw_scores.pack([head(rows / 5000)])[1]
    assert len(payload) == len(narrow) + 3
    np.testing.assert_allclose(decoded(header, payload)[0], rows, atol=5000 / 2**24)


def test_float32_comes_back_to_the_bit():
    rows = np.random.default_rng(1).normal(0, 50, (2, 5, 7)).astype(np.float32)
    np.testing.assert_array_equal(decoded(*raw_scores.pack([head(each) for each in rows], 32)), rows)


def test_one_head_is_sent_as_its_q_and_k_which_tell_how_a_score_came_about():
    rng = np.random.default_rng(2)
    q, k = rng.normal(size=(40, 4)).astype(np.float32), rng.normal(size=(50, 4)).astype(np.float32)
    header, payload = raw_scores.pack([head(q @ k.T, q=q, k=k)], 32)
    assert header.vectors
    assert len(payload) == 4 * (q.size + k.size) + 40 * 50 // 8
    assert not raw_scores.pack([head(q @ k.T, q=q, k=k)] * 2, 32)[0].vectors


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="finite"):
        raw_scores.pack([head([[1.0, wrong]])])
