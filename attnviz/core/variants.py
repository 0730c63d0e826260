"""Attention in other ways than `attend`: fused, linear, and at a temperature."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

from attnviz.core.attention import Scale, Stages, attend, scale_factor


# Attention through torch's fused kernels: the same output as `attend`, no intermediates kept.
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


# Attention without the softmax: keys and values are summed once, so that n tokens cost n steps and not n x n.
#
# With a positive feature map f in place of exp, (f(Q) f(K)^T) V = f(Q) (f(K)^T V), and the product on the right is
# only D x Dv large, however long the sequence is (Katharopoulos et al. 2020, "Transformers are RNNs").
def positive_features(x: Tensor) -> Tensor:
    """elu(x) + 1, the feature map of the paper: always above 0, so that weights are positive."""
    return functional.elu(x) + 1


def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Every query's mixture of all values, by weights f(q).f(k) over their sum.

    q (..., Q, D), k (..., K, D), v (..., K, Dv) -> (..., Q, Dv)
    """
    q, k = positive_features(q), positive_features(k)
    state = k.mT @ v  # (..., D, Dv)
    total = k.sum(-2).unsqueeze(-1)  # (..., D, 1)
    mixed: Tensor = (q @ state) / (q @ total)
    return mixed


# Attention at a temperature, down to 0, where the largest score gets all the weight.
#: Temperatures up to this one are treated as 0. The same number is sent to the browser.
COLDEST = 1e-6


def attend_at(
    q: Tensor, k: Tensor, v: Tensor, temperature: float, divisor: float = 1.0, mask: Tensor | None = None
) -> Stages:
    """softmax(q.kT / (divisor T)) v with every stage; shapes as in `attend`.

    Here T is the temperature. At 0 the keys with the largest score share the weight equally; at infinity all keys do.
    `mask` is boolean, True where a query may attend.
    """
    if temperature > COLDEST:
        return attend(q, k, v, mask=mask, scale=1 / (divisor * temperature))
    allowed = attend(q, k, v, mask=mask, scale=1 / divisor).masked
    largest = (allowed == allowed.amax(-1, keepdim=True)) & (allowed > -math.inf)
    return attend(q, k, v, mask=largest, scale=0.0)
