"""Saturation over d_k: against autograd, limits from theory, and scipy."""

import numpy as np
import pytest
import torch
from scipy import stats

from attnviz.pages.scaling.maths import alternatives, growing_width, saturation


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
