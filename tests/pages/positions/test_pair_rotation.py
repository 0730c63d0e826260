"""A rotated pair is a product of complex numbers."""

import cmath

import pytest

from attnviz.pages.positions.maths.rotation import PairConfig as Config
from attnviz.pages.positions.maths.rotation import turn as run


@pytest.mark.parametrize("config", [Config(), Config(8, 30.0, 3, 7, 400, 5), Config(2, 10_000.0, 0, 0, 0)])
def test_turning_a_pair_is_multiplying_by_a_complex_number(config):
    result = run(config)
    theta = config.base ** (-2 * config.pair / config.width)
    assert result.turns[config.pair] == pytest.approx(theta)
    q, k = (complex(*x[config.pair]) for x in (result.q, result.k))
    q_m, k_n = q * cmath.exp(1j * theta * config.q_at), k * cmath.exp(1j * theta * config.k_at)
    assert complex(*result.q_turned) == pytest.approx(q_m)
    assert complex(*result.k_turned) == pytest.approx(k_n)
    assert result.product == pytest.approx((q_m * k_n.conjugate()).real, abs=1e-12)
    assert result.angle == pytest.approx(theta * (config.k_at - config.q_at))
