import pytest
import torch

from attnviz.core.attention import linear_attention

pytestmark = pytest.mark.numbers


@pytest.fixture
def qkv():
    g = torch.Generator().manual_seed(0)
    return [torch.randn(2, 3, n, d, generator=g, dtype=torch.float64) for n, d in ((5, 4), (7, 4), (7, 6))]


def test_it_is_the_mixture_that_its_weights_make_key_by_key(qkv):
    q, k, v = qkv
    expected = torch.zeros(2, 3, 5, 6, dtype=torch.float64)
    for i in range(5):
        products = [(_phi(q[..., i, :]) * _phi(k[..., j, :])).sum(-1) for j in range(7)]
        total = sum(products)
        expected[..., i, :] = sum((p / total).unsqueeze(-1) * v[..., j, :] for j, p in enumerate(products))
    assert torch.allclose(linear_attention(q, k, v), expected, atol=1e-12)


def _phi(x):
    """elu + 1 written as exp(x) below zero and x + 1 above."""
    return torch.where(x > 0, x + 1, x.exp())
