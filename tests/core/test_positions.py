"""Absolute and relative positions against their formulas and transformers' T5 and BLOOM."""

import math

import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from attnviz.core.positions import Sinusoidal, sinusoidal, t5_buckets

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


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("buckets, max_distance", [(32, 128), (16, 20), (8, 1000)])
def test_t5_buckets_are_those_of_transformers(bidirectional: bool, buckets: int, max_distance: int) -> None:
    relative = torch.arange(-1200, 1201)
    expected = T5Attention._relative_position_bucket(relative, bidirectional, buckets, max_distance)
    ours = t5_buckets(relative, bidirectional=bidirectional, buckets=buckets, max_distance=max_distance)
    assert torch.equal(ours, expected)
    assert 0 <= int(ours.min()) <= int(ours.max()) < buckets
