"""Saturation over d_k: against autograd, limits from theory, and scipy."""

import numpy as np
import pytest
import torch
from scipy import stats

from attnviz.core.attention import attend
from attnviz.pages.scaling.maths import alternatives, growing_width, saturation
from attnviz.pages.scaling.maths.saturation import Config, run


@pytest.fixture(scope="module")
def raw():
    return run(Config(alternative="raw"))


@pytest.fixture(scope="module")
def scaled():
    return run(Config())


def test_raw_rows_saturate_and_scaled_rows_stay(raw, scaled):
    assert raw.bands["largest"].middle[0] == pytest.approx(scaled.bands["largest"].middle[0])  # d_k = 1
    assert raw.bands["largest"].middle[-1] > 0.999
    assert scaled.bands["largest"].middle[-1] < 0.4
    assert raw.bands["certain"].middle[-1] > 0.8
    assert scaled.bands["certain"].high[-1] < 0.02
    assert raw.bands["jacobian"].middle[-1] < 1e-3
    assert raw.bands["to_q"].middle[-1] < 1e-3
    assert raw.bands["to_q"].mean[-1] > 0.3, "the median gradient vanishes, its mean does not"


@pytest.mark.parametrize("name", alternatives.ALTERNATIVES)
def test_gradients_by_hand_are_those_of_autograd(name):
    parameter = {"temperature": 1.5, "sink": 0.3}.get(name, 3.0)
    vectors = growing_width.draw(6, seed=4)
    q, k = (x[:2, :, :3, :20].double() if x is vectors.q else x[:2, ..., :20].double() for x in (vectors.q, vectors.k))
    sent = vectors.sent[:2, :, :3].double()
    v = torch.zeros(*k.shape[:-1], 1, dtype=torch.float64)
    made = alternatives.stages(q, k, v, name, parameter)
    to_q, to_k = saturation.gradient_norms(made, q, k, sent, name, parameter)
    for s in range(2):
        for r in range(3):
            one_q, one_k = q[s, :, r : r + 1].clone().requires_grad_(), k[s].clone().requires_grad_()
            weights = alternatives.stages(one_q, one_k, v[s], name, parameter).weights
            (weights * sent[s, :, r : r + 1]).sum().backward()
            assert to_q[s, 0, r].item() == pytest.approx(one_q.grad.norm().item(), rel=1e-6, abs=1e-9)
            assert to_k[s, 0, r].item() == pytest.approx(one_k.grad.norm().item(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 16, 4096])
def test_the_largest_of_many_normals_is_what_scipy_integrates(n):
    quantiles = (np.arange(200_000) + 0.5) / 200_000
    by_quantiles = stats.norm.ppf(quantiles ** (1 / n)).mean()
    assert saturation.largest_of_normals(n) == pytest.approx(by_quantiles, abs=1e-3)


def test_the_row_of_bars_is_attend_of_the_first_query():
    config = growing_width.Config(d_k=100, n_keys=12, seed=9)
    result = growing_width.run(config)
    vectors = growing_width.draw(12, 9)
    q, k = vectors.q[0, :, :1, :100], vectors.k[0, :, :, :100]
    made = attend(q, k, torch.zeros(1, 12, 1))
    assert np.array_equal(result.scaled.weights, made.weights[0, 0].numpy())
    assert result.raw.logits == pytest.approx(made.scores[0, 0].numpy())
    assert result.scaled.entropy == pytest.approx(stats.entropy(made.weights[0, 0].double()), rel=1e-5)
