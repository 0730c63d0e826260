"""Scaled dot-product attention with every intermediate kept; and fused, linear, and at a temperature."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import handle_torch_function, has_torch_function

from attnviz.base.message import Problem, require_between, require_multiple

Scale = Literal["sqrt"] | float | None


@dataclass(frozen=True, repr=False)
class Stages:
    """Every intermediate of attention, in the order computed. Shapes are (..., H, Q, K) unless stated otherwise."""

    scores: Tensor  #: q.kT, raw
    scaled: Tensor  #: after scale, bias and soft-cap
    masked: Tensor  #: -inf where not allowed
    weights: Tensor  #: rows sum to 1 over K, or to less with sinks; rows that may see no key are 0
    output: Tensor  #: weights @ v, (..., H, Q, Dv)
    empty_rows: Tensor  #: boolean (..., H, Q), True where no key may be seen
    dropped: Tensor | None = None  #: weights after dropout; None when no dropout was applied

    def __repr__(self) -> str:
        tensors = ((name, value) for name, value in vars(self).items() if value is not None)
        return f"<Stages: {', '.join(f'{name} {tuple(value.shape)}' for name, value in tensors)}>"


def scale_factor(scale: Scale, d_head: int) -> float:
    """The number that multiplies q.kT: 1/sqrt(D) for "sqrt", 1 for None, otherwise the number given."""
    if scale == "sqrt":
        return 1.0 / math.sqrt(max(d_head, 1))
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
    """Attention of H query heads to G key/value heads.

    q (..., H, Q, D), k (..., G, K, D), v (..., G, K, Dv), with G dividing H; query head h reads
    key/value head h // (H/G). Leading dimensions broadcast. `mask` is boolean, True meaning may
    attend; `bias` is added to the scaled scores; both broadcast to (..., H, Q, K). `softcap` c
    replaces each biased score x by c*tanh(x/c). It is applied before the mask and keeps a bias of
    -inf, so it never uncovers a hidden key. `sinks` (H,) adds one logit per head that takes a
    share of the weight and contributes no value. Dropout is applied only when `training`.
    16-bit inputs give 16-bit stages; the softmax itself runs in float32, as in eager model code.
    """
    if has_torch_function((q, k, v)):  # a torch-function mode sees one call of `attend`
        arguments = (q, k, v, mask, scale, bias, softcap, sinks, dropout, training)
        stages: Stages = handle_torch_function(attend, (q, k, v), *arguments)
        return stages
    _check_shapes(q, k, v)
    _check_numbers(softcap, sinks, dropout, q.shape[-3])
    scores = grouped_matmul(q, k.mT)
    _check_broadcast("mask", mask, scores)
    _check_broadcast("bias", bias, scores)
    if mask is not None and mask.dtype != torch.bool:
        raise Problem("mask has dtype {dtype}; it must be boolean, True meaning may attend", dtype=mask.dtype)
    scaled = _scale_scores(scores, scale_factor(scale, q.shape[-1]), bias, softcap)
    masked = scaled if mask is None else scaled.masked_fill(~mask, -torch.inf)
    empty_rows = _find_empty_rows(masked, mask, bias)  # (..., H, Q)
    weights = _softmax(masked, empty_rows, sinks)
    dropped = torch.dropout(weights, dropout, train=True) if training and dropout > 0 else None
    output = grouped_matmul(weights if dropped is None else dropped, v)  # (..., H, Q, Dv)
    return Stages(scores, scaled, masked, weights, output, empty_rows, dropped)


def causal_scores(q: Tensor, k: Tensor, scale: float) -> Tensor:
    """Scaled scores (..., H, Q, K) of the last Q queries of a causal mask.

    Keys that come later have a score so low that their weight is 0, yet finite, so that 0 times it is 0.
    """
    count = q.shape[-2]
    scores = grouped_matmul(q * scale, k.mT)
    hidden = torch.ones(count, count, dtype=torch.bool, device=scores.device).triu(1)
    scores[..., k.shape[-2] - count :].masked_fill_(hidden, torch.finfo(scores.dtype).min / 2)
    return scores


def grouped_matmul(per_query_head: Tensor, per_kv_head: Tensor) -> Tensor:
    """Matrix product of H query heads with G key/value heads, without copying the key/value heads.

    Query heads that share a key/value head are stacked along the query axis, because broadcasting
    over an extra axis would make torch expand K and V in memory.
    """
    *lead, heads, length, inner = per_query_head.shape
    groups = per_kv_head.shape[-3]
    stacked = per_query_head.reshape(*lead, groups, heads // groups * length, inner)  # (..., G, H/G*Q, .)
    product = stacked @ per_kv_head  # (..., G, H/G*Q, .)
    return product.reshape(*product.shape[:-3], heads, length, product.shape[-1])


def _scale_scores(scores: Tensor, factor: float, bias: Tensor | None, softcap: float | None) -> Tensor:
    """Scores after scale, bias and soft-cap; a bias of -inf stays -inf under a cap."""
    scaled = scores if factor == 1.0 else scores * factor
    if bias is not None:
        scaled = scaled + bias.to(scaled.dtype)
    if softcap is None:
        return scaled
    capped = softcap * torch.tanh(scaled / softcap)
    return capped if bias is None else capped.masked_fill(bias == -torch.inf, -torch.inf)


def _find_empty_rows(masked: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
    """True where mask and bias together leave no key, (..., H, Q).

    Computed from mask and bias, not from the scores: a 16-bit score can also overflow to -inf.
    """
    visible = torch.ones(masked.shape[-1:], dtype=torch.bool, device=masked.device)  # (K,)
    if mask is not None:
        visible = visible & mask
    if bias is not None:
        visible = visible & (bias.to(masked.dtype) != -torch.inf)
    return (~visible.any(-1)).expand(masked.shape[:-1])


def _softmax(masked: Tensor, empty_rows: Tensor, sinks: Tensor | None) -> Tensor:
    """Softmax over K in at least float32, with 0 for empty rows and no NaN in any gradient."""
    wide, empty = masked.to(torch.promote_types(masked.dtype, torch.float32)), empty_rows.unsqueeze(-1)
    if wide.requires_grad:  # softmax of a row of -inf has a NaN gradient, which filling the result would not remove
        wide = wide.masked_fill(empty, 0.0)
    if sinks is None:
        weights = wide.softmax(-1)
    else:
        sink = sinks.to(wide.dtype).reshape(-1, 1, 1).expand(*wide.shape[:-1], 1)
        weights = torch.cat([wide, sink], -1).softmax(-1)[..., :-1]
    filled = weights.masked_fill(empty, 0.0) if weights.requires_grad else weights.masked_fill_(empty, 0.0)
    return filled.to(masked.dtype)


def _check_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() < 3:
            raise Problem(
                "{name} has shape {shape}; it needs at least heads, positions and width",
                name=name,
                shape=tuple(tensor.shape),
            )
        if tensor.dtype != q.dtype or not tensor.is_floating_point():
            raise Problem(
                "{name} has dtype {dtype}; q, k and v must share one floating-point dtype",
                name=name,
                dtype=tensor.dtype,
            )
    require_multiple("n_heads", q.shape[-3], "n_kv_heads", k.shape[-3])
    if q.shape[-1] != k.shape[-1]:
        raise Problem("q is {q} wide and k is {k} wide; they must be equal", q=q.shape[-1], k=k.shape[-1])
    if k.shape[-3:-1] != v.shape[-3:-1]:
        raise Problem(
            "k has (heads, positions) = {k} and v has {v}; they must be equal",
            k=tuple(k.shape[-3:-1]),
            v=tuple(v.shape[-3:-1]),
        )


def _check_numbers(softcap: float | None, sinks: Tensor | None, dropout: float, n_heads: int) -> None:
    if softcap is not None and not softcap > 0:
        raise Problem("softcap={softcap} must be above 0; None means no cap", softcap=softcap)
    require_between("dropout", dropout, 0, 1)
    if sinks is not None and tuple(sinks.shape) != (n_heads,):
        raise Problem("sinks has shape {shape}; it must be ({n_heads},)", shape=tuple(sinks.shape), n_heads=n_heads)


def _check_broadcast(name: str, tensor: Tensor | None, scores: Tensor) -> None:
    """Refuse a mask or bias that would add heads, queries or keys. Extra leading dimensions are allowed."""
    if tensor is None:
        return
    sizes = zip(reversed(tensor.shape), reversed(scores.shape), strict=False)
    if not all(mine in (1, theirs) or (axis > 2 and theirs == 1) for axis, (mine, theirs) in enumerate(sizes)):
        raise Problem(
            "{name} has shape {shape}; it must broadcast to (..., heads, queries, keys) = {scores}",
            name=name,
            shape=tuple(tensor.shape),
            scores=tuple(scores.shape),
        )


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
    """The output of `attend`, (..., H, Q, Dv), by torch's fused kernels; rows that may see no key are 0 as well.

    There are no arguments for soft-capping and sinks, because torch's kernels support neither.
    """
    if not (q.numel() and k.numel() and v.numel()):  # torch's kernels disagree about empty tensors
        return attend(q, k, v, mask, scale, bias).output
    allowed = mask
    if bias is not None:
        mask = bias.to(q.dtype) if mask is None else bias.to(q.dtype).masked_fill(~mask, -torch.inf)
        allowed = mask != -torch.inf
    output = functional.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        dropout_p=dropout if training else 0.0,
        scale=scale_factor(scale, q.shape[-1]),
        enable_gqa=q.shape[-3] != k.shape[-3],
    )
    return output if allowed is None else output.masked_fill(~allowed.any(-1, keepdim=True), 0.0)


# Attention without the softmax: keys and values are summed once, so that n tokens cost n steps and not n x n.
#
# With a positive feature map f in place of exp, (f(Q) f(K)^T) V = f(Q) (f(K)^T V), and the product on the right is
# only D x Dv large, however long the sequence is (Katharopoulos et al. 2020, "Transformers are RNNs").
def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Every query's mixture of all values, by weights f(q).f(k) over their sum; f(x) is elu(x) + 1, always above 0.

    q (..., Q, D), k (..., K, D), v (..., K, Dv) -> (..., Q, Dv)
    """
    q, k = functional.elu(q) + 1, functional.elu(k) + 1
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
