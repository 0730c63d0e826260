"""The variance of q.k: the numbers that the page promises, theory, and distributions that break its assumptions."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from attnviz.pages.scaling.maths import variance
from attnviz.pages.scaling.maths.variance import Config


def on_all_pairs(config):
    *_partial, result = variance.draw(config)
    return result


@pytest.mark.parametrize("distribution", variance.DISTRIBUTIONS)
def test_products_have_the_moments_of_the_closed_form(distribution):
    strength = 0.6 if distribution in variance.BROKEN else 0.0
    q, k = variance.draw_pair(distribution, strength, (1_000_000, 1), torch.Generator().manual_seed(0))
    product = (q * k).double()
    expected = variance.moments(distribution, strength)
    error = product.std().item() / math.sqrt(len(product))
    assert product.mean().item() == pytest.approx(expected.mean, abs=4 * error)
    assert product.var().item() == pytest.approx(expected.variance, rel=0.08)
    if expected.kurtosis is not None:
        assert stats.kurtosis(product.flatten().numpy()) == pytest.approx(expected.kurtosis, rel=0.1)


def test_blocks_give_first_answers_and_then_all_pairs_the_same_on_every_run():
    config = Config(d_k=4096, pairs=3_500, seed=2)
    partial = list(variance.draw(config))
    assert [r.pairs for r in partial] == [1562, 3124, 3500]
    assert not partial[0].complete
    assert partial[-1].complete
    assert variance.first_result(config).raw.variance == partial[0].raw.variance
    assert on_all_pairs(config).raw.variance == partial[-1].raw.variance


@pytest.mark.parametrize("distribution", variance.DISTRIBUTIONS)
@pytest.mark.parametrize("d_k", [1, 7, 4096])
def test_histograms_hold_nearly_every_pair_as_densities(distribution, d_k):
    strength = 0.5 if distribution in variance.BROKEN else 0.0
    result = variance.first_result(Config(d_k, 2_000, 0, distribution, strength))
    for spread in (result.raw, result.scaled):
        held = (spread.counts * np.diff(spread.edges)).sum()
        assert 0.99 < held < 1 + 1e-9
        middle = len(spread.counts) // 2
        if distribution == "rademacher" and d_k > 1:
            assert (spread.counts[middle - 2 : middle + 3] > 0).all(), "none is empty by construction"
