"""Apply an edit to a recorded layer. The result is a recorded layer too, so before and after are shown the same way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Literal

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.attention import Scale, scale_factor
from attnviz.models.capture.head_selection import broadcasts, of_heads
from attnviz.models.capture.recorded_layer import RecordedLayer


@dataclass(frozen=True, eq=False)
class Plan:
    """One edit as it applies to one layer, with its heads as a list. See `attnviz.models.capture.edit.Edit`."""

    heads: list[int]
    mask: Tensor | Literal["model"] | None
    scale: Scale | Literal["model"]
    factor: float
    uniform: bool
    silence: bool
    change: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]] | None
    weights: Tensor | Callable[[Tensor], Tensor] | None = None
    block: Collection[tuple[int, int]] = ()
    output: Tensor | Callable[[Tensor], Tensor] | None = None
    at: Sequence[int] | None = None


def carry_out(plan: Plan, layer: RecordedLayer, own: RecordedLayer | None = None) -> RecordedLayer:
    """The layer after the edit. `plan.change` is called with the tensors of `own`, or else with the layer's."""
    if plan.change is not None:
        layer = _with_function(layer, plan, own or layer)
    if not isinstance(plan.mask, str) or plan.mask != "model":
        layer = _with_mask(layer, plan)
    if plan.block:
        layer = _with_mask(layer, replace(plan, mask=_without(layer, plan)))
    if plan.scale != "model" or plan.factor != 1.0:
        layer = _with_scale(layer, plan)
    if plan.uniform:
        layer = _with_uniform(layer, plan)
    if plan.weights is not None:
        layer = replace(layer, set_weights=_placed(layer.set_weights, plan, layer, "weights"))
    if plan.output is not None:
        shown = layer.silenced if plan.at is not None else layer.silenced - set(plan.heads)
        layer = replace(layer, set_output=_placed(layer.set_output, plan, layer, "output"), silenced=shown)
    if plan.silence:
        layer = replace(layer, silenced=layer.silenced | set(plan.heads))
    return layer


def layer_output(layer: RecordedLayer) -> Tensor:
    """The input of the layer's output projection, (B, Q, H, Dv); 0 for silenced heads."""
    return layer.head_outputs().transpose(1, 2).contiguous()


def _without(layer: RecordedLayer, plan: Plan) -> Tensor:
    """The mask of the chosen heads without the (query, key) positions to block; negative ones count from the end."""
    q_len, k_len = layer.shape[2:]
    mask = of_heads(layer.mask, plan.heads).expand(layer.mask.shape[0], len(plan.heads), q_len, k_len).clone()
    for query, key in plan.block:
        if not (-q_len <= query < q_len and -k_len <= key < k_len):
            raise Problem(
                "block holds {pair}; this layer has {queries} queries and {keys} keys",
                pair=(query, key),
                queries=q_len,
                keys=k_len,
            )
        mask[:, :, query, key] = False
    return mask


def _placed(before: Tensor | None, plan: Plan, layer: RecordedLayer, name: str) -> Tensor:
    """`before`, or NaN, with what the edit gives at its heads and positions, (B, H, Q, K or Dv)."""
    own = layer.weights(plan.heads) if name == "weights" else layer.head_outputs(plan.heads)
    given = plan.weights if name == "weights" else plan.output
    new = given(own.clone()) if callable(given) else given
    if not isinstance(new, Tensor) or not broadcasts(tuple(new.shape), tuple(own.shape)):
        shape = tuple(new.shape) if isinstance(new, Tensor) else type(new).__name__
        raise Problem(
            "{name} has shape {shape}; it must broadcast to {wanted}", name=name, shape=shape, wanted=tuple(own.shape)
        )
    b, heads, q_len, _ = layer.shape
    made = own.new_full((b, heads, q_len, own.shape[-1]), torch.nan) if before is None else before.clone()
    rows = list(range(q_len)) if plan.at is None else list(plan.at)
    if any(not -q_len <= row < q_len for row in rows):
        raise Problem("at={at} must be positions of {count} queries", at=rows, count=q_len)
    chosen = torch.tensor(plan.heads, device=made.device)[:, None]
    made[:, chosen, torch.tensor(rows, device=made.device)] = new.to(made).expand_as(own)[:, :, rows]
    return made


def _with_scale(layer: RecordedLayer, plan: Plan) -> RecordedLayer:
    assert layer.q is not None
    scales = [layer.scale_of(head) for head in range(layer.n_heads)]
    for head in plan.heads:
        base = scales[head] if plan.scale == "model" else scale_factor(plan.scale, layer.q.shape[-1])
        scales[head] = base * plan.factor
    return replace(layer, scales=tuple(scales))


def _with_uniform(layer: RecordedLayer, plan: Plan) -> RecordedLayer:
    """Set all scores to 0, so that softmax gives every key that may be seen the same weight."""
    layer = _with_scale(layer, replace(plan, scale="model", factor=0.0))
    bias, sinks = layer.bias, layer.sinks
    if bias is not None:
        bias = bias.expand(*bias.shape[:-3], layer.n_heads, -1, -1).clone()
        bias[..., plan.heads, :, :] = 0.0
    if sinks is not None:
        sinks = sinks.clone()
        sinks[plan.heads] = -torch.inf
    return replace(layer, bias=bias, sinks=sinks)


def _with_mask(layer: RecordedLayer, plan: Plan) -> RecordedLayer:
    assert not isinstance(plan.mask, str)
    new = layer.mask_for(plan.mask, len(plan.heads))
    if plan.heads == list(range(layer.n_heads)):
        allowed = new
    else:
        b, _, q_len, k_len = layer.shape
        allowed = layer.mask.expand(b, layer.n_heads, q_len, k_len).clone()
        allowed[:, plan.heads] = new.expand(b, len(plan.heads), q_len, k_len)
    return replace(layer, allowed=allowed, causal=False)


def _with_function(layer: RecordedLayer, plan: Plan, shown: RecordedLayer) -> RecordedLayer:
    assert layer.q is not None
    assert layer.k is not None
    assert layer.v is not None
    assert shown.q is not None
    assert shown.k is not None
    assert shown.v is not None
    assert plan.change is not None
    # copies: a function that writes into them must reach neither other heads nor the caller's cache
    given = plan.change(shown.q.clone(), shown.k.clone(), shown.v.clone())
    if not isinstance(given, tuple | list) or len(given) != 3 or not all(isinstance(t, Tensor) for t in given):
        raise Problem("the function must return three tensors: q, k and v")
    for name, new in zip("qkv", given, strict=True):
        if new.dim() != 4:
            raise Problem(
                "the function returned {name} of shape {shape}; it must have 4 dimensions",
                name=name,
                shape=tuple(new.shape),
            )
    q, k, v = (new.to(old.dtype) for old, new in zip((layer.q, layer.k, layer.v), given, strict=True))
    b, heads, q_len, k_len = layer.shape
    if k.dim() == v.dim() == 4 and k.shape[1] and v.shape[1] and heads % lcm(k.shape[1], v.shape[1]) == 0:
        shared = lcm(k.shape[1], v.shape[1])  # keys may be shared by more heads than values are, or by fewer
        k, v = k.repeat_interleave(shared // k.shape[1], 1), v.repeat_interleave(shared // v.shape[1], 1)
    _must_be("q", q, (b, heads, q_len, k.shape[-1]))
    _must_be("k", k, (b, v.shape[1], k_len, k.shape[-1]))
    _must_be("v", v, (b, k.shape[1], k_len, layer.v.shape[-1]))
    if heads % k.shape[1]:
        raise Problem(
            "n_heads={n_heads} must be a multiple of n_kv_heads={n_kv_heads}", n_heads=heads, n_kv_heads=k.shape[1]
        )
    if plan.heads != list(range(heads)):
        _must_be("q", q, (b, heads, q_len, layer.q.shape[-1]))
        q, k, v = (_mixed(old, new, plan.heads, heads) for old, new in ((layer.q, q), (layer.k, k), (layer.v, v)))
    return replace(layer, q=q, k=k, v=v)


def _mixed(old: Tensor, new: Tensor, chosen: list[int], heads: int) -> Tensor:
    """`new` for the chosen heads and `old` for the others, one entry per query head: (B, H, T, D)."""
    mixed = old.repeat_interleave(heads // old.shape[1], 1)
    mixed[:, chosen] = new.repeat_interleave(heads // new.shape[1], 1)[:, chosen]
    return mixed


def _must_be(name: str, tensor: Tensor, wanted: tuple[int, ...]) -> None:
    if tuple(tensor.shape) != wanted:
        raise Problem(
            "the function returned {name} of shape {shape}; it must be {wanted}",
            name=name,
            shape=tuple(tensor.shape),
            wanted=wanted,
        )
