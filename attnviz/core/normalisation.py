"""RMSNorm, and the normalisation of queries and keys."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.core.costs import QKNorm
from attnviz.core.heads import HeadLayout


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last axis, in at least float32.

    With `offset` the parameter is stored as weight - offset: Gemma multiplies by 1 + w, so its offset is 1.
    """

    def __init__(self, width: int, eps: float = 1e-6, *, offset: float = 0.0) -> None:
        super().__init__()
        self.eps, self.offset = eps, offset
        self.weight = nn.Parameter(torch.full((width,), 1.0 - offset))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        unit = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (unit * (self.offset + self.weight)).to(x.dtype)


class HeadNorm(nn.Module):
    """Normalises queries or keys (..., H, T, D).

    "head" normalises each head separately, with one weight shared by all heads; "full" normalises the
    widths of all heads together. Both are RMSNorms; "head-layernorm" and "full-layernorm" are LayerNorms.
    """

    def __init__(self, kind: QKNorm, n_heads: int, d_head: int, eps: float = 1e-6) -> None:
        super().__init__()
        if kind not in ("head", "head-layernorm", "full", "full-layernorm"):
            raise Problem(
                'qk_norm={kind} must be "head", "head-layernorm", "full" or "full-layernorm"', kind=repr(kind)
            )
        self.full = kind.startswith("full")
        width = n_heads * d_head if self.full else d_head
        self.norm = nn.LayerNorm(width, eps) if kind.endswith("layernorm") else RMSNorm(width, eps)

    def forward(self, x: Tensor) -> Tensor:
        if not self.full:
            return self.norm(x)  # type: ignore[no-any-return]
        joined = x.transpose(-3, -2)  # (..., T, H, D)
        normed: Tensor = self.norm(joined.flatten(-2)).view(joined.shape)
        return normed.transpose(-3, -2)


def qk_norms(kind: QKNorm | None, layout: HeadLayout, eps: float = 1e-6) -> tuple[nn.Module, nn.Module]:
    """The norm of the queries and the norm of the keys; both are the identity when `kind` is None."""
    if kind is None:
        return nn.Identity(), nn.Identity()
    return (
        HeadNorm(kind, layout.n_heads, layout.qk_width, eps),
        HeadNorm(kind, layout.kv_heads, layout.qk_width, eps),
    )
