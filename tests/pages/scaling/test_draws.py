"""Components of q and k against scipy's distributions, and products against closed forms."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnviz.base.message import Problem
from attnviz.pages.scaling.maths import draws

KNOWN = {
    "normal": stats.norm(),
    "uniform": stats.uniform(-math.sqrt(3), 2 * math.sqrt(3)),
    "heavy-tailed": stats.t(4, scale=1 / math.sqrt(2)),
}


def drawn(distribution, strength=0.0, n=40_000, seed=0):
    return draws.pair(distribution, strength, (n, 1), torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("distribution", KNOWN)
def test_components_follow_the_distribution_they_are_named_after(distribution):
    q, k = drawn(distribution)
    for components in (q, k):
        assert stats.kstest(components.flatten().numpy(), KNOWN[distribution].cdf).pvalue > 0.001
    assert KNOWN[distribution].var() == pytest.approx(1)


def test_rademacher_components_are_signs_in_equal_number():
    q, _ = drawn("rademacher")
    assert set(q.flatten().tolist()) == {-1.0, 1.0}
    assert abs(q.mean()) < 4 / math.sqrt(len(q))


@pytest.mark.parametrize("distribution", draws.DISTRIBUTIONS)
def test_products_have_the_mean_and_variance_of_the_closed_form(distribution):
    strength = 0.6 if distribution in draws.BROKEN else 0.0
    q, k = drawn(distribution, strength, n=200_000)
    product = (q * k).double()
    expected = draws.moments(distribution, strength)
    error = product.std().item() / math.sqrt(len(product))
    assert product.mean().item() == pytest.approx(expected.mean, abs=4 * error)
    assert product.var().item() == pytest.approx(expected.variance, rel=0.08)


@pytest.mark.parametrize("distribution, strength", [("normal", 0), ("uniform", 0), ("correlated", 0.5), ("shifted", 1)])
def test_the_kurtosis_of_a_product_is_the_one_in_closed_form(distribution, strength):
    q, k = drawn(distribution, strength, n=1_000_000)
    assert stats.kurtosis((q * k).double().flatten().numpy()) == pytest.approx(
        draws.moments(distribution, strength).kurtosis, rel=0.1
    )


@settings(max_examples=25, deadline=None)
@given(st.floats(-1, 1), st.floats(-2, 2))
def test_without_strength_a_broken_assumption_is_whole_again(correlation, mean):
    assert draws.moments("correlated", 0.0) == draws.moments("normal")
    assert draws.moments("shifted", 0.0) == draws.moments("normal")
    assert draws.moments("correlated", correlation).variance == pytest.approx(1 + correlation**2)
    assert draws.moments("shifted", mean).mean == pytest.approx(mean**2)


def test_full_correlation_makes_q_and_k_the_same():
    q, k = drawn("correlated", 1.0, n=100)
    assert torch.equal(q, k)


@pytest.mark.parametrize(
    "distribution, strength, sentence",
    [
        ("cauchy", 0.0, "distribution=cauchy must be one of normal, uniform"),
        ("correlated", 1.5, "correlated: 1.5 must lie between -1.0 and 1.0"),
        ("shifted", math.nan, "shifted: nan must lie between"),
    ],
)
def test_what_cannot_be_drawn_is_named(distribution, strength, sentence):
    with pytest.raises(Problem, match=sentence):
        draws.pair(distribution, strength, (2, 2), torch.Generator())
