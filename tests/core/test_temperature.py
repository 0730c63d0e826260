import math

import pytest
import torch
from torch.testing import assert_close

from attnviz.core.attention import COLDEST, attend_at


def drawn(d_k=3):
    source = torch.Generator().manual_seed(5)
    return (torch.randn(1, 2, n, d_k, generator=source, dtype=torch.float64) for n in (4, 6, 6))


@pytest.mark.parametrize("temperature", [2 * COLDEST, 0.1, 1.0, 30.0])
def test_weights_are_the_softmax_of_scores_over_divisor_and_temperature(temperature):
    q, k, v = drawn()
    expected = ((q @ k.mT) / (1.7 * temperature)).softmax(-1)
    made = attend_at(q, k, v, temperature, divisor=1.7)
    assert_close(made.weights, expected)
    assert_close(made.output, expected @ v)


def test_at_zero_the_largest_score_takes_all_and_ties_share():
    scores = torch.tensor([[3.0, 1.0, 3.0, 2.0]])
    q, k = torch.ones(1, 1, 1), scores[..., None]
    for temperature in (0.0, COLDEST):
        assert attend_at(q, k, torch.zeros(1, 4, 1), temperature).weights.tolist() == [[[0.5, 0, 0.5, 0]]]


def test_at_an_infinite_temperature_all_keys_weigh_the_same():
    q, k, v = drawn()
    assert_close(attend_at(q, k, v, math.inf).weights, torch.full((1, 2, 4, 6), 1 / 6, dtype=torch.float64))
