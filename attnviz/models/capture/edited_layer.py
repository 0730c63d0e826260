"""Apply an edit to a recorded layer. The result is a recorded layer too, so before and after are shown the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import lcm
from typing import Literal

import torch
from torch import Tensor

from attnviz.core.attention import Scale, scale_factor
from attnviz.core.message import Problem
from attnviz.models.capture.head_selection import equal_scale_groups
from attnviz.models.capture.recorded_layer import CHUNK, RecordedLayer


@dataclass(frozen=True, eq=False)
class Plan:
    """One edit as it applies to one layer, with its heads as a list. See `attnviz.models.capture.intervention.Edit`."""

    heads: list[int]
    mask: Tensor | Literal["model"] | None
    scale: Scale | Literal["model"]
    factor: float
    uniform: bool
    silence: bool
    change: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]] | None


def carry_out(plan: Plan, layer: RecordedLayer, own: RecordedLayer | None = None) -> RecordedLayer:
    """The layer after the edit. `plan.change` is called with the tensors of `own`, or else with the layer's."""
    if plan.change is not None:
        layer = _with_function(layer, plan, own or layer)
    if not isinstance(plan.mask, str) or plan.mask != "model":
        layer = _with_mask(layer, plan)
    if plan.scale != "model" or plan.factor != 1.0:
        layer = _with_scale(layer, plan)
    if plan.uniform:
        layer = _with_uniform(layer, plan)
    if plan.silence:
        layer = replace(layer, silenced=layer.silenced | set(plan.heads))
    return layer


def layer_output(layer: RecordedLayer) -> Tensor:
    """The input of the layer's output projection, (B, Q, H, Dv); 0 for silenced heads."""
    b, heads, q_len, k_len = layer.shape
    step = max(1, CHUNK // (b * q_len * k_len))
    parts = [layer.stages_of(part).output for _, part in equal_scale_groups(list(range(heads)), step, layer.scale_of)]
    output = torch.cat(parts, 1)  # (B, H, Q, Dv)
    if layer.silenced:
        output[:, sorted(layer.silenced)] = 0.0
    return output.transpose(1, 2).contiguous()


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
