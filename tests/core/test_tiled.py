"""Attention over tiles against `attend` and torch's own kernels with their gradients; each step: pages/fast."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.tiled import Tiling, tiled_attend, tiled_gradients

FORWARD, BACKWARD = 1e-6, 1e-5  #: of the largest value, in float32
#: heads, K/V heads, queries, keys, D, Dv
SHAPES = [
    (1, 1, 1, 1, 4, 4),
    (2, 2, 37, 37, 16, 16),
    (6, 2, 50, 50, 8, 12),
    (4, 1, 13, 45, 16, 16),
    (8, 2, 128, 128, 64, 64),
]
BLOCKS = [(7, 5), (16, 16), (200, 200)]
WINDOWS = [(False, None), (True, None), (True, 9), (False, 1)]


def drawn(shape: tuple[int, ...], dtype: torch.dtype = torch.float32, lead: tuple[int, ...] = (2,)) -> list[Tensor]:
    torch.manual_seed(sum(shape))
    heads, groups, q_len, k_len, d, dv = shape
    sizes = [(heads, q_len, d), (groups, k_len, d), (groups, k_len, dv), (heads, q_len, dv)]
    return [torch.randn(*lead, *size, dtype=dtype) for size in sizes]


def mask_of(q_len: int, k_len: int, causal: bool, window: int | None) -> Tensor:
    if window is not None:
        return masks.sliding_window(q_len, k_len, window)
    return masks.causal(q_len, k_len) if causal else masks.everything(q_len, k_len)


def off(made: Tensor, wanted: Tensor) -> float:
    """The largest difference, as a share of the largest value."""
    assert made.shape == wanted.shape
    return float((made - wanted).abs().max() / wanted.abs().max())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("causal, window", WINDOWS)
def test_tiles_give_what_attend_and_torchs_kernels_give(shape, blocks, causal, window):
    q, k, v, d_output = drawn(shape)
    tiling = Tiling(*blocks, causal, window)
    mask = mask_of(shape[2], shape[3], causal, window)
    made = tiled_attend(q, k, v, tiling)
    leaves = [each.clone().requires_grad_() for each in (q, k, v)]
    fused = scaled_dot_product_attention(*leaves, attn_mask=mask, enable_gqa=True)
    fused.backward(d_output)
    stages = attend(q, k, v, mask)
    assert off(made.output, stages.output) < FORWARD
    assert off(made.output, fused.detach()) < FORWARD
    torch.testing.assert_close(made.log_sum, stages.masked.logsumexp(-1), atol=1e-5, rtol=1e-6)
    gradients = tiled_gradients(q, k, v, made, d_output, tiling)
    largest = max(float(leaf.grad.abs().max()) for leaf in leaves)
    for each, leaf in zip(gradients, leaves, strict=True):
        assert float((each - leaf.grad).abs().max()) < BACKWARD * largest


def test_rows_that_see_no_key_are_0_and_harm_no_other_and_no_gradient():
    q, k, v, d_output = drawn((4, 2, 9, 5, 8, 8))  # causal, and more queries than keys: the first four see none
    tiling = Tiling(2, 2, causal=True)
    made = tiled_attend(q, k, v, tiling)
    leaves = [each.clone().requires_grad_() for each in (q, k, v)]
    stages = attend(*leaves, masks.causal(9, 5))
    stages.output.backward(d_output)
    assert stages.empty_rows[..., :4].all()
    torch.testing.assert_close(made.output, stages.output.detach(), atol=1e-6, rtol=1e-6)
    assert torch.equal(made.log_sum == -math.inf, stages.empty_rows)
    for each, leaf in zip(tiled_gradients(q, k, v, made, d_output, tiling), leaves, strict=True):
        torch.testing.assert_close(each, leaf.grad, atol=1e-5, rtol=1e-5)


def test_16_bit_numbers_are_summed_in_32():
    q, k, v, _ = drawn((2, 2, 300, 300, 16, 16))
    halves = [each.bfloat16() for each in (q, k, v)]
    made = tiled_attend(*halves, Tiling(16, 16)).output
    assert made.dtype == torch.bfloat16
    wanted = attend(*(each.double() for each in halves)).output
    assert off(made.double(), wanted) < 2**-8, "only the output is rounded"
