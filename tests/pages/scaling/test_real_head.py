"""A recorded head's scores, measured: against the plain formula, on a tiny layer made by hand."""

import numpy as np
import pytest
import torch

from attnviz.core.attention import attend
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.pages.scaling.maths import real_head
from attnviz.pages.scaling.maths.real_head import Config

T, D = 7, 8


def layer(causal=True):
    g = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, heads, T, D, generator=g) for heads in (4, 2, 2))
    return RecordedLayer("decoder", "self", 0, "made.by.hand", D**-0.5, q, k, v, causal=causal)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("head", [0, 3])
def test_variances_are_those_of_the_products_over_the_pairs_that_may_attend(causal, head):
    made = layer(causal)
    result = real_head.run(made, Config(0, head))
    q, k = made.q[0, head].double(), made.k[0, head // 2].double()
    pairs = [(i, j) for i in range(T) for j in range(T) if not causal or j <= i]
    products = torch.stack([q[i] * k[j] for i, j in pairs])
    assert result.by_dimension == pytest.approx(products.var(0, correction=0).numpy())
    assert result.total == pytest.approx(products.sum(1).var(correction=0).item())


def test_entropy_over_the_scale_falls_from_even_to_one_hot():
    made = layer()
    result = real_head.run(made, Config(0, 1, factor=0.0))
    truth = attend(made.q, made.k, made.v, mask=made.mask).weights[0, 1]
    assert result.model.weights == pytest.approx(truth.numpy(), abs=1e-6)
    assert result.raw.variance == pytest.approx(result.model.variance * D, rel=1e-5)
    assert result.raw.share < result.model.share
    assert result.chosen.share == pytest.approx(1), "a scale of 0 is even attention"
    assert (np.diff(result.shares) <= 1e-6).all()
    assert result.shares[0] > 0.98
    assert result.shares[real_head.MULTIPLES.index(1.0)] == pytest.approx(result.model.share)
