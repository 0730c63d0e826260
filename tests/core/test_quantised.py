from fractions import Fraction

import pytest
import torch

from attnviz.core.precision import bits_per_number as bits_of
from attnviz.core.precision import dequantise, quantise


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 3 + 0.7


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("group", [8, 16, 32])
def test_it_is_what_torchs_own_fake_quantisation_gives_with_the_same_scales(bits, group):
    x = numbers(3, 5, 32)
    stored = quantise(x, bits, group)
    scale, lowest = stored.scale.float().flatten(), stored.lowest.float().flatten()
    rows = x.reshape(-1, group) - lowest[:, None]
    theirs = torch.fake_quantize_per_channel_affine(
        rows, scale, torch.zeros(len(scale), dtype=torch.int32), 0, 0, 2**bits - 1
    )
    assert torch.allclose(dequantise(stored), (theirs + lowest[:, None]).reshape(x.shape), atol=2e-6)


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("group", [16, 64])
def test_bytes_are_those_of_the_formula(bits, group):
    x = numbers(2, 9, 64)
    assert Fraction(quantise(x, bits, group).nbytes * 8, x.numel()) == bits_of(f"int{bits}", group)
