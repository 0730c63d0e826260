import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.core.measures import layer_mix, rollout


def random_weights(layers, heads, length, seed):
    scores = torch.randn(layers, heads, length, length, generator=torch.Generator().manual_seed(seed))
    return scores.double().softmax(-1)


sizes = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**31))


def test_rollout_of_two_layers_worked_by_hand():
    first = torch.tensor([[1.0, 0], [1, 0]])
    second = torch.tensor([[1.0, 0], [0.5, 0.5]])
    # with the residual: [[1, 0], [.5, .5]] then [[1, 0], [.25, .75]]
    found = rollout(torch.stack([first, second])[:, None])
    torch.testing.assert_close(found[0], torch.tensor([[1.0, 0], [0.5, 0.5]]))
    torch.testing.assert_close(found[1], torch.tensor([[1.0, 0], [0.25 + 0.375, 0.375]]))


@given(sizes)
@settings(max_examples=25, deadline=None)
def test_rollout_is_the_sum_over_all_paths(size):
    weights = random_weights(*size)
    mixes, length = layer_mix(weights), size[2]
    found = rollout(weights)[-1]
    expected = torch.zeros_like(found)
    for path in itertools.product(range(length), repeat=size[0] + 1):  # input, after layer 1, ...
        share = torch.tensor(1.0, dtype=torch.float64)
        for layer, (key, query) in enumerate(itertools.pairwise(path)):
            share = share * mixes[layer, query, key]
        expected[path[-1], path[0]] += share
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(found.sum(-1), torch.ones(length, dtype=torch.float64))


@pytest.mark.parametrize("heads", ["mean", "max", "min"])
@pytest.mark.parametrize("residual", [0.0, 0.5, 1.0])
def test_mixes_have_rows_that_sum_to_one(heads, residual):
    mixes = layer_mix(random_weights(2, 3, 4, 0), residual, heads)
    torch.testing.assert_close(mixes.sum(-1), torch.ones(2, 4, dtype=torch.float64))
