"""Self-attention over a video's patches against torch's own norm, attention and complex numbers."""

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.rope import AxialRoPE, axis_widths, grid_positions

M, HEADS, D = 48, 4, 12


def by_complex_numbers(x, positions, base=10_000.0):
    """Pairs (2i, 2i + 1) of each head as complex numbers, turned by time, then height, then width."""
    turned = []
    for part, at in zip(x.split(axis_widths(x.shape[-1]), -1), positions.unbind(-1), strict=True):
        width = part.shape[-1]
        speeds = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        pairs = torch.view_as_complex(part.double().unflatten(-1, (-1, 2)).contiguous())
        angle = at.double()[:, None] * speeds
        turned.append(torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2))
    return torch.cat(turned, -1).float()


@pytest.mark.parametrize("use_fused", [False, True])
def test_a_video_s_patches_are_normed_and_turned_over_time_height_and_width(use_fused):
    torch.manual_seed(1)
    layout = HeadLayout(M, HEADS)
    ours = Attention(layout, qk_norm="full", position=AxialRoPE(), use_fused=use_fused)
    positions = grid_positions(2, 3, 4)
    x = torch.randn(2, len(positions), M)
    with torch.no_grad():
        norms = [nn.RMSNorm(M, eps=1e-6) for _ in range(2)]
        for norm, mine in zip(norms, (ours.q_norm, ours.k_norm), strict=True):
            norm.weight.uniform_(0.3, 2.0)
            mine.norm.weight.copy_(norm.weight)
        q, k = (
            norm(projection(x)).unflatten(-1, (HEADS, D)).transpose(1, 2)
            for norm, projection in zip(norms, (ours.qkv.q_proj, ours.qkv.k_proj), strict=True)
        )
        v = ours.qkv.v_proj(x).unflatten(-1, (HEADS, D)).transpose(1, 2)
        seen = scaled_dot_product_attention(by_complex_numbers(q, positions), by_complex_numbers(k, positions), v)
        expected = ours.o_proj(seen.transpose(1, 2).flatten(2))
        assert_close(ours(x, positions=positions), expected, atol=1e-5, rtol=1e-5)
