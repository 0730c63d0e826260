"""Scaled dot-product attention with every intermediate kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attnviz.core.message import Problem

Scale = Literal["sqrt"] | float | None


@dataclass(frozen=True)
class Stages:
    """Everything attention computes on the way, in order. Shapes: (..., H, Q, K) unless said."""

    scores: Tensor  #: q.kT, raw
    scaled: Tensor  #: after scale, bias and soft-cap
    masked: Tensor  #: -inf where not allowed
    weights: Tensor  #: rows sum to 1 over K; with sinks to at most 1; rows with no key are 0
    output: Tensor  #: weights @ v, (..., H, Q, Dv)
    empty_rows: Tensor  #: boolean (..., H, Q), broadcast over the mask's own axes: True where no key may be seen
    dropped: Tensor | None = None  #: weights after dropout, when dropout acted


def scale_factor(scale: Scale, d_head: int) -> float:
    """What q.kT is multiplied by: "sqrt" is 1/sqrt(D), None is 1, a number is itself."""
    if scale == "sqrt":
        return 1.0 / math.sqrt(d_head)
    if scale is None:
        return 1.0
    if isinstance(scale, str):
        raise Problem('scale={scale} must be "sqrt", None or a number', scale=repr(scale))
    return float(scale)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: Scale = "sqrt",
    bias: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
    dropout: float = 0.0,
    training: bool = False,
) -> Stages:
    """Attention of H query heads on G key/value heads.

    q (..., H, Q, D), k (..., G, K, D), v (..., G, K, Dv), with G dividing H; query head h reads
    key/value head h // (H/G). `mask` is boolean and broadcasts to (..., H, Q, K); `bias` is added
    to the scaled scores; `softcap` c bends them to c*tanh(x/c) after the bias; `sinks` (H,) are
    one more logit per head that takes weight and gives nothing. Dropout acts only in training.
    """
    _check(q, k, v, mask)
    scores = _shared(q, k.mT)  # (..., H, Q, K)
    scaled = scores * scale_factor(scale, q.shape[-1])
    if bias is not None:
        scaled = scaled + bias
    if softcap is not None:
        scaled = softcap * torch.tanh(scaled / softcap)
    masked = scaled if mask is None else scaled.masked_fill(~mask, -torch.inf)
    empty_rows = (masked == -torch.inf).all(-1)  # (..., H, Q)
    weights = _softmax(masked, empty_rows, sinks)
    dropped = torch.dropout(weights, dropout, train=True) if training and dropout > 0 else None
    used = weights if dropped is None else dropped
    output = _shared(used, v)  # (..., H, Q, Dv)
    return Stages(scores, scaled, masked, weights, output, empty_rows, dropped)


def _shared(per_query_head: Tensor, per_kv_head: Tensor) -> Tensor:
    """Matrix product of H query heads with G key/value heads, the latter never copied.

    The heads that share a key/value head are laid one under the other along the query axis:
    broadcasting over an extra axis would have torch expand K and V in memory.
    """
    *lead, heads, length, _ = per_query_head.shape
    groups = per_kv_head.shape[-3]
    stacked = per_query_head.reshape(*lead, groups, heads // groups * length, -1)  # (..., G, H/G*Q, .)
    product = stacked @ per_kv_head  # (..., G, H/G*Q, .)
    return product.reshape(*product.shape[:-3], heads, length, -1)


def _softmax(masked: Tensor, empty_rows: Tensor, sinks: Tensor | None) -> Tensor:
    """Softmax over K in at least float32, with 0 for empty rows and no NaN in any gradient."""
    wide = masked.to(torch.promote_types(masked.dtype, torch.float32))
    safe = wide.masked_fill(empty_rows.unsqueeze(-1), 0.0)
    if sinks is None:
        weights = safe.softmax(-1)
    else:
        sink = sinks.to(wide.dtype).reshape(-1, 1, 1).expand(*safe.shape[:-1], 1)
        weights = torch.cat([safe, sink], -1).softmax(-1)[..., :-1]
    return weights.masked_fill(empty_rows.unsqueeze(-1), 0.0).to(masked.dtype)


def _check(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() < 3:
            raise Problem(
                "{name} has shape {shape}; it needs at least heads, positions and width",
                name=name,
                shape=tuple(tensor.shape),
            )
    if q.shape[-3] % k.shape[-3]:
        raise Problem(
            "n_heads={n_heads} must be a multiple of n_kv_heads={n_kv_heads}",
            n_heads=q.shape[-3],
            n_kv_heads=k.shape[-3],
        )
    if q.shape[-1] != k.shape[-1]:
        raise Problem("q is {q} wide and k is {k} wide; they must be equal", q=q.shape[-1], k=k.shape[-1])
    if k.shape[-3:-1] != v.shape[-3:-1]:
        raise Problem(
            "k has (heads, positions) = {k} and v has {v}; they must be equal",
            k=tuple(k.shape[-3:-1]),
            v=tuple(v.shape[-3:-1]),
        )
    if mask is not None and mask.dtype != torch.bool:
        raise Problem("mask has dtype {dtype}; it must be boolean, True meaning may attend", dtype=mask.dtype)
