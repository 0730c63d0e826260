"""Attention through torch's fused kernels: the same output as `attend`, no intermediates kept."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnviz.core.attention import Scale, attend, scale_factor


def fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: Scale = "sqrt",
    bias: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
) -> Tensor:
    """The same output as `attend`, (..., H, Q, Dv); rows that may see no key are 0 here as well.

    There are no arguments for soft-capping and sinks, because torch's kernels support neither.
    """
    if not (q.numel() and k.numel() and v.numel()):  # torch's kernels disagree about empty tensors
        return attend(q, k, v, mask, scale, bias).output
    allowed = mask
    if bias is not None:
        mask = bias.to(q.dtype) if mask is None else bias.to(q.dtype).masked_fill(~mask, -torch.inf)
        allowed = mask != -torch.inf
    output = scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        dropout_p=dropout if training else 0.0,
        scale=scale_factor(scale, q.shape[-1]),
        enable_gqa=q.shape[-3] != k.shape[-3],
    )
    if allowed is None:
        return output
    return output.masked_fill(~allowed.any(-1, keepdim=True), 0.0)
