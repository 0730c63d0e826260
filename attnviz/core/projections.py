"""From inputs to heads: the query, key and value projections, one matrix or three."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attnviz.base.message import Problem
from attnviz.core.heads import HeadLayout


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(..., T, H*D) -> (..., H, T, D)."""
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(-3, -2)


def join_heads(x: Tensor) -> Tensor:
    """(..., H, T, D) -> (..., T, H*D)."""
    return x.transpose(-3, -2).flatten(-2)


class SeparateQKV(nn.Module):
    """Three matrices: queries, keys and values can be projected from inputs of different widths."""

    def __init__(self, layout: HeadLayout, inputs: tuple[int, int, int], *, bias: bool) -> None:
        super().__init__()
        self.layout = layout
        self.q_proj = nn.Linear(inputs[0], layout.n_heads * layout.qk_width, bias=bias)
        self.k_proj = nn.Linear(inputs[1], layout.kv_heads * layout.qk_width, bias=bias)
        self.v_proj = nn.Linear(inputs[2], layout.kv_heads * layout.v_width, bias=bias)

    def queries(self, x: Tensor) -> Tensor:
        """(..., Q, inputs) -> (..., H, Q, D)."""
        return split_heads(self.q_proj(x), self.layout.n_heads)

    def keys(self, x: Tensor) -> Tensor:
        """(..., K, inputs) -> (..., G, K, D)."""
        return split_heads(self.k_proj(x), self.layout.kv_heads)

    def values(self, x: Tensor) -> Tensor:
        """(..., K, inputs) -> (..., G, K, Dv)."""
        return split_heads(self.v_proj(x), self.layout.kv_heads)


class PackedQKV(nn.Module):
    """One matrix whose rows are those of W_Q, then W_K, then W_V, so that one multiplication gives all three."""

    def __init__(self, layout: HeadLayout, inputs: tuple[int, int, int], *, bias: bool) -> None:
        super().__init__()
        if len(set(inputs)) > 1:
            raise Problem(
                "a packed projection needs one input width for query, key and value, not {inputs}", inputs=inputs
            )
        self.layout = layout
        g, d = layout.kv_heads, layout.qk_width
        self.widths = [layout.n_heads * d, g * d, g * layout.v_width]
        self.qkv_proj = nn.Linear(inputs[0], sum(self.widths), bias=bias)

    def pack(self, separate: SeparateQKV) -> None:
        """Copy the weights of the three matrices in `separate` into the packed matrix."""
        parts = (separate.q_proj, separate.k_proj, separate.v_proj)
        with torch.no_grad():
            self.qkv_proj.weight.copy_(torch.cat([part.weight for part in parts]))
            if self.qkv_proj.bias is not None:
                self.qkv_proj.bias.copy_(torch.cat([part.bias for part in parts]))

    def all(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of one input x (..., T, inputs), from a single multiplication."""
        q, k, v = self.qkv_proj(x).split(self.widths, dim=-1)
        groups = self.layout.kv_heads
        return split_heads(q, self.layout.n_heads), split_heads(k, groups), split_heads(v, groups)

    def queries(self, x: Tensor) -> Tensor:
        """(..., Q, inputs) -> (..., H, Q, D)."""
        return split_heads(self._part(0, x), self.layout.n_heads)

    def keys(self, x: Tensor) -> Tensor:
        """(..., K, inputs) -> (..., G, K, D)."""
        return split_heads(self._part(1, x), self.layout.kv_heads)

    def values(self, x: Tensor) -> Tensor:
        """(..., K, inputs) -> (..., G, K, Dv)."""
        return split_heads(self._part(2, x), self.layout.kv_heads)

    def _part(self, which: int, x: Tensor) -> Tensor:
        bias = self.qkv_proj.bias
        part = None if bias is None else torch.split(bias, self.widths)[which]
        return linear(x, torch.split(self.qkv_proj.weight, self.widths)[which], part)
