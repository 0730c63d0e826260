import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.base.message import Problem
from attnviz.core.measures import layer_mix, rollout

sizes = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**31))


@pytest.mark.parametrize("residual", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("heads", ["mean", "max", "min"])
@given(size=sizes)
@settings(max_examples=6, deadline=None)
def test_rollout_is_the_sum_over_all_paths(heads, residual, size):
    """Of the products of what each layer hands on: its heads joined, and a share of the token itself."""
    layers, n_heads, length, seed = size
    scores = torch.randn(layers, n_heads, length, length, generator=torch.Generator().manual_seed(seed))
    weights = scores.double().softmax(-1)
    joined = {"mean": weights.mean(1), "max": weights.amax(1), "min": weights.amin(1)}[heads]
    mixes = (1 - residual) * joined + residual * torch.eye(length)
    mixes = mixes / mixes.sum(-1, keepdim=True)
    torch.testing.assert_close(layer_mix(weights, residual, heads), mixes)
    for depth, found in enumerate(rollout(weights, residual, heads), 1):
        expected = torch.zeros_like(found)
        for path in itertools.product(range(length), repeat=depth + 1):  # input, after layer 1, ...
            share = torch.tensor(1.0, dtype=torch.float64)
            for layer, (key, query) in enumerate(itertools.pairwise(path)):
                share = share * mixes[layer, query, key]
            expected[path[-1], path[0]] += share
        torch.testing.assert_close(found, expected)
    for follow in (layer_mix, rollout):
        torch.testing.assert_close(follow(weights), follow(weights, 0.5, "mean"))
    with pytest.raises(Problem, match="weights have 2 queries and 3 keys"):
        rollout(torch.ones(layers, n_heads, 2, 3))
