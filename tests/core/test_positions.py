"""Absolute and relative positions against their formulas and transformers' T5 and BLOOM."""

import math

import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.positions import ALiBi, Sinusoidal, T5Bias, sinusoidal, t5_buckets

pytestmark = pytest.mark.numbers


def test_sinusoids_are_those_of_the_transformer_paper() -> None:
    table = sinusoidal(torch.arange(50), 8)
    for position, i in ((0, 0), (3, 1), (49, 3)):
        angle = position / 10_000 ** (2 * i / 8)
        assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
        assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


def test_sinusoids_are_added_to_the_input() -> None:
    x, positions = torch.zeros(2, 5, 8), torch.arange(5)
    torch.testing.assert_close(Sinusoidal().add(x, positions)[1], sinusoidal(positions, 8).float())


@pytest.mark.parametrize("n_heads", [1, 2, 5, 8, 12, 16])
def test_alibi_weights_are_those_of_bloom(n_heads: int) -> None:
    expected = build_alibi_tensor(torch.ones(1, 6), n_heads, torch.float64).reshape(n_heads, 1, 6)
    q, k, v = (torch.randn(n_heads, 6, 4, dtype=torch.float64) for _ in range(3))
    positions = torch.arange(6)
    ours = attend(q, k, v, mask=masks.causal(6), bias=ALiBi(n_heads).bias(positions, positions))
    # BLOOM adds slope times the key's position: each row differs by a constant, which leaves its weights unchanged
    torch.testing.assert_close(ours.weights, attend(q, k, v, mask=masks.causal(6), bias=expected).weights)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("buckets, max_distance", [(32, 128), (16, 20), (8, 1000)])
def test_t5_buckets_are_those_of_transformers(bidirectional: bool, buckets: int, max_distance: int) -> None:
    relative = torch.arange(-1200, 1201)
    expected = T5Attention._relative_position_bucket(relative, bidirectional, buckets, max_distance)
    ours = t5_buckets(relative, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
    assert torch.equal(ours, expected)
    assert 0 <= int(ours.min()) <= int(ours.max()) < buckets


def test_the_t5_bias_is_the_learned_number_of_the_bucket() -> None:
    bias = T5Bias(3)
    q_positions, k_positions = torch.arange(4, 6), torch.arange(6)
    added = bias.bias(q_positions, k_positions)
    assert added.shape == (3, 2, 6)
    bucket = t5_buckets(torch.tensor(2 - 5))
    torch.testing.assert_close(added[:, 1, 2], bias.table.weight[bucket])
    assert bias.bias(q_positions.expand(2, -1), k_positions).shape == (2, 3, 2, 6)
