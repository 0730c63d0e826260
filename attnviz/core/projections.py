"""From inputs to heads: the query, key and value projections, one matrix or three, and the norms of both sides."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attnviz.core.costs import QKNorm
from attnviz.core.heads import HeadLayout


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(..., T, H*D) -> (..., H, T, D)."""
    return x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads).transpose(-3, -2)


def join_heads(x: Tensor) -> Tensor:
    """(..., H, T, D) -> (..., T, H*D)."""
    return x.transpose(-3, -2).flatten(-2)


class _QKV(nn.Module):
    """Queries, keys and values of the heads of `layout`; a subclass says how one of the three is projected."""

    def __init__(self, layout: HeadLayout) -> None:
        super().__init__()
        self.layout = layout

    def project(self, which: int, x: Tensor) -> Tensor:
        """(..., T, inputs) -> (..., T, heads * width): of queries if `which` is 0, of keys if 1, of values if 2."""
        raise NotImplementedError

    def queries(self, x: Tensor) -> Tensor:
        """(..., Q, inputs) -> (..., H, Q, D)."""
        return split_heads(self.project(0, x), self.layout.n_heads)

    def keys(self, x: Tensor) -> Tensor:
        """(..., K, inputs) -> (..., G, K, D)."""
        return split_heads(self.project(1, x), self.layout.kv_heads)

    def values(self, x: Tensor) -> Tensor:
        """(..., K, inputs) -> (..., G, K, Dv)."""
        return split_heads(self.project(2, x), self.layout.kv_heads)


class SeparateQKV(_QKV):
    """Three matrices."""

    def __init__(self, layout: HeadLayout, *, bias: bool) -> None:
        super().__init__(layout)
        self.q_proj = nn.Linear(layout.d_model, layout.n_heads * layout.qk_width, bias=bias)
        self.k_proj = nn.Linear(layout.d_model, layout.kv_heads * layout.qk_width, bias=bias)
        self.v_proj = nn.Linear(layout.d_model, layout.kv_heads * layout.v_width, bias=bias)

    def project(self, which: int, x: Tensor) -> Tensor:
        return (self.q_proj, self.k_proj, self.v_proj)[which](x)  # type: ignore[no-any-return]


class PackedQKV(_QKV):
    """One matrix whose rows are those of W_Q, then W_K, then W_V, so that one multiplication gives all three."""

    def __init__(self, layout: HeadLayout, *, bias: bool) -> None:
        super().__init__(layout)
        g, d = layout.kv_heads, layout.qk_width
        self.widths = [layout.n_heads * d, g * d, g * layout.v_width]
        self.qkv_proj = nn.Linear(layout.d_model, sum(self.widths), bias=bias)

    def all(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of one input x (..., T, inputs), from a single multiplication."""
        q, k, v = self.qkv_proj(x).split(self.widths, dim=-1)
        groups = self.layout.kv_heads
        return split_heads(q, self.layout.n_heads), split_heads(k, groups), split_heads(v, groups)

    def project(self, which: int, x: Tensor) -> Tensor:
        bias = self.qkv_proj.bias
        bias_slice = None if bias is None else torch.split(bias, self.widths)[which]
        return linear(x, torch.split(self.qkv_proj.weight, self.widths)[which], bias_slice)


class HeadNorm(nn.Module):
    """Normalises queries or keys (..., H, T, D).

    "head" normalises each head separately, with one weight shared by all heads; "full" normalises the
    widths of all heads together. Both are RMSNorms; "head-layernorm" and "full-layernorm" are LayerNorms.
    """

    def __init__(self, kind: QKNorm, n_heads: int, d_head: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.full = kind.startswith("full")
        width = n_heads * d_head if self.full else d_head
        self.norm = nn.LayerNorm(width, eps) if kind.endswith("layernorm") else nn.RMSNorm(width, eps)

    def forward(self, x: Tensor) -> Tensor:
        if not self.full:
            return self.norm(x)  # type: ignore[no-any-return]
        joined = x.transpose(-3, -2)  # (..., T, H, D)
        normed: Tensor = self.norm(joined.flatten(-2)).view(joined.shape)
        return normed.transpose(-3, -2)


def make_qk_norms(kind: QKNorm | None, layout: HeadLayout, eps: float = 1e-6) -> tuple[nn.Module, nn.Module]:
    """The norm of the queries and the norm of the keys; both are the identity when `kind` is None."""
    if kind is None:
        return nn.Identity(), nn.Identity()
    return (
        HeadNorm(kind, layout.n_heads, layout.qk_width, eps),
        HeadNorm(kind, layout.kv_heads, layout.qk_width, eps),
    )
