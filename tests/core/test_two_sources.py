"""Cross-attention over a text and a picture, and self-attention over a video's patches, against other hands' blocks.

The blocks below are written from their formulas, with torch's own norm, attention and complex numbers, and share
nothing with attnviz but the weights.
"""

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.rope import AxialRoPE, axis_widths, grid_positions

M, HEADS, D, TEXT, PICTURE = 48, 4, 12, 20, 28


class TextAndPicture(nn.Module):
    """Queries look at a text and at a picture, with RMSNorm of q and of either k; the results are summed."""

    def __init__(self):
        super().__init__()
        self.q, self.o = nn.Linear(M, M, bias=False), nn.Linear(M, M, bias=False)
        self.k, self.v = nn.Linear(TEXT, M, bias=False), nn.Linear(TEXT, M, bias=False)
        self.k_picture, self.v_picture = nn.Linear(PICTURE, M, bias=False), nn.Linear(PICTURE, M, bias=False)
        self.norm_q, self.norm_k, self.norm_k_picture = (nn.RMSNorm(M, eps=1e-6) for _ in range(3))

    def forward(self, x, text, picture):
        q = self.norm_q(self.q(x)).view(*x.shape[:2], HEADS, D).transpose(1, 2)
        total = torch.zeros(())
        for source, k, v, norm in (
            (text, self.k, self.v, self.norm_k),
            (picture, self.k_picture, self.v_picture, self.norm_k_picture),
        ):
            keys = norm(k(source)).view(*source.shape[:2], HEADS, D).transpose(1, 2)
            values = v(source).view(*source.shape[:2], HEADS, D).transpose(1, 2)
            total = total + scaled_dot_product_attention(q, keys, values).transpose(1, 2).flatten(2)
        return self.o(total)


def both(use_fused):
    """The block by another hand with random weights, norms included, and ours with the same."""
    torch.manual_seed(0)
    other = TextAndPicture()
    with torch.no_grad():
        for each in (other.norm_q, other.norm_k, other.norm_k_picture):
            each.weight.uniform_(0.3, 2.0)
    layout = HeadLayout(M, HEADS)
    ours = Attention(
        layout, k_input=TEXT, v_input=TEXT, side_input=PICTURE, qk_norm="full", norm_eps=1e-6, use_fused=use_fused
    )
    names = {
        "qkv.q_proj": other.q,
        "qkv.k_proj": other.k,
        "qkv.v_proj": other.v,
        "side_k_proj": other.k_picture,
        "side_v_proj": other.v_picture,
        "o_proj": other.o,
        "q_norm.norm": other.norm_q,
        "k_norm.norm": other.norm_k,
        "side_k_norm.norm": other.norm_k_picture,
    }
    held = {f"{name}.weight": module.weight for name, module in names.items()}
    assert not ours.load_state_dict(held).missing_keys
    return other, ours


@pytest.mark.parametrize("use_fused", [False, True])
def test_text_and_picture_are_looked_at_apart_and_summed(use_fused):
    other, ours = both(use_fused)
    x, text, picture = torch.randn(2, 7, M), torch.randn(2, 5, TEXT), torch.randn(2, 9, PICTURE)
    with torch.no_grad():
        assert_close(ours(x, text, side=picture), other(x, text, picture), atol=1e-5, rtol=1e-5)


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
