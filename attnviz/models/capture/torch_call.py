"""Parse calls of torch's attention functions into an `AttentionCall`.

Four functions are known: torch's fused attention, the function behind `nn.MultiheadAttention`, FlexAttention, and our
`attend`.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnviz.core.attention import Scale, Stages, attend, scale_factor
from attnviz.models.capture.attention_call import HIDDEN, AttentionCall, split_mask
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.recorder import merge_changed

_HEADS = ("num_heads", "n_heads", "n_head", "heads", "num_attention_heads", "nhead")


#: a parsed call, and a function from a changed layer and the original answer to the answer that replaces it
TorchCall = tuple[AttentionCall, Callable[[RecordedLayer, Any], Any]]


def parse_torch_call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], module: nn.Module) -> TorchCall | None:
    """Parse a call of `func`; None if it is no known attention function."""
    reader = _READERS.get(func)
    if reader is None and getattr(func, "__name__", "") == "flex_attention":  # it has no public name to compare with
        reader = _parse_flex
    return None if reader is None else reader(module, *args, **kwargs)


def _parse_fused(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> TorchCall:
    """`F.scaled_dot_product_attention`: any number of leading axes, heads in the third from the end."""
    if query.dim() > 3 and not query.shape[:-3] == key.shape[:-3] == value.shape[:-3]:
        lead = torch.broadcast_shapes(query.shape[:-3], key.shape[:-3], value.shape[:-3])
        query, key, value = (t.expand(*lead, *t.shape[-3:]) for t in (query, key, value))
    if attn_mask is not None:
        # with the same leading axes as the scores where those are not the usual four
        led = _add_leading_axes(attn_mask) if query.dim() == 4 else attn_mask.expand(*query.shape[:-1], key.shape[-2])
        attn_mask = to_four_axes(led, module)
    q, k, v = (to_four_axes(t, module) for t in (query, key, value))
    allowed, bias = (None, None) if attn_mask is None else split_mask(attn_mask)
    factor = q.shape[-1] ** -0.5 if scale is None else float(scale)
    call = AttentionCall(q, k, v, attn_mask, allowed, is_causal, bias, None, None, factor, dropout_p)
    return call, replace_outputs


def replace_outputs(layer: RecordedLayer, original: Tensor) -> Tensor:
    """Output of a product with values, in its shape, where a layer is changed."""
    return merge_changed(
        layer, layer.head_outputs().reshape(original.shape).to(original.dtype), original, original.dim() - 2
    )


def to_four_axes(tensor: Tensor, module: nn.Module) -> Tensor:
    """Reshape to (B, H, positions, width). Of three axes the first is heads, or batch and heads in one."""
    if tensor.dim() != 3:
        return _add_leading_axes(tensor)
    named = (getattr(module, name, None) for name in _HEADS)
    heads = next((number for number in named if isinstance(number, int) and number > 0), None)
    return tensor.unflatten(0, (-1, heads)) if heads and tensor.shape[0] % heads == 0 else tensor.unsqueeze(1)


def _parse_attend(
    module: nn.Module,
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
) -> TorchCall:
    """Our own `attend`, which a model may call in place of a softmax written out."""
    factor = scale_factor(scale, q.shape[-1])
    q, k, v = (_add_leading_axes(t) for t in (q, k, v))
    mask, bias = (None if t is None else _add_leading_axes(t) for t in (mask, bias))
    return AttentionCall(
        q, k, v, mask, mask, False, bias, softcap, sinks, factor, dropout if training else 0.0
    ), _replace_stages


def _parse_flex(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor],
    block_mask: tuple[Any, ...],
    scale: float,
    *others: Any,
) -> TorchCall:
    """`flex_attention`, whose functions of a score and of four positions are asked at all positions at once.

    What its function makes of the model's scores is taken for a bias, so under another scale a cap stays where it was.
    """
    b, heads, q_len, _ = query.shape
    positions = [torch.arange(count, device=query.device) for count in (b, heads, q_len, key.shape[2])]
    scores = query @ key.repeat_interleave(heads // key.shape[1], 1).mT * scale
    allowed, modified = _vmap_positions(block_mask[-1])(*positions), _vmap_positions(score_mod, 1)(scores, *positions)
    allowed = allowed.expand(scores.shape) & (modified > HIDDEN)
    bias = (modified - scores).masked_fill(~allowed, 0)

    def replace_answer(layer: RecordedLayer, original: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return replace_outputs(layer, original[0]), *original[1:]

    seen, added = None if allowed.all() else allowed, bias if bias.any() else None
    return AttentionCall(query, key, value, None, seen, False, added, None, None, scale, 0.0), replace_answer


def _vmap_positions(function: Callable[..., Tensor], before: int = 0) -> Callable[..., Tensor]:
    """Vectorise a function over row, head, query and key; its first `before` arguments have all four axes."""
    for axis in (3, 2, 1, 0):
        function = torch.vmap(function, (0,) * before + tuple(0 if at == axis else None for at in range(4)))
    return function


def _replace_stages(layer: RecordedLayer, original: Stages) -> Stages:
    """Stages with the weights and output of the changed layer; earlier stages stay the model's own."""
    weights, output = layer.weights().reshape(original.weights.shape), replace_outputs(layer, original.output)
    return replace(original, weights=weights.to(original.weights.dtype), output=output, dropped=None)


def _add_leading_axes(tensor: Tensor) -> Tensor:
    """Tensor with four axes: leading ones are flattened or added."""
    if tensor.dim() == 4:
        return tensor
    return tensor.flatten(0, -4) if tensor.dim() > 4 else tensor.reshape(*(1,) * (4 - tensor.dim()), *tensor.shape)


def _parse_multi_head(  # its many arguments are torch's, in torch's order
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> TorchCall:
    """`F.multi_head_attention_forward`: q, k and v are projected again here."""
    query_memory, key_memory = ((t.data_ptr(), t.shape, t.stride()) for t in (query, key))
    cross = query_memory != key_memory  # else they are the same numbers in memory, be it as two views
    if query.dim() == 2:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if use_separate_proj_weight or in_proj_weight is None:
        weights: Any = (q_proj_weight, k_proj_weight, v_proj_weight)
    else:
        weights = in_proj_weight.chunk(3)
    biases: Any = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
    batch = query.shape[1]
    q, k, v = (
        F.linear(*arguments) for arguments in zip((query, key, value), weights, biases, strict=True)
    )  # (T, B, M)
    if bias_k is not None and bias_v is not None:
        k, v = torch.cat([k, bias_k.expand(1, batch, -1)]), torch.cat([v, bias_v.expand(1, batch, -1)])
    q, k, v = (t.unflatten(2, (num_heads, -1)).permute(1, 2, 0, 3) for t in (q, k, v))  # (B, H, T, D)
    k, v = (t if static is None else static.unflatten(0, (batch, -1)) for t, static in ((k, static_k), (v, static_v)))
    if add_zero_attn:
        k, v = (F.pad(t, (0, 0, 0, 1)) for t in (k, v))
    allowed, bias = _merge_masks(attn_mask, key_padding_mask, k.shape[2], batch)

    def replace_answer(layer: RecordedLayer, original: tuple[Tensor, Tensor | None]) -> tuple[Tensor, Tensor | None]:
        joined = layer.head_outputs().permute(2, 0, 1, 3).flatten(2).to(original[0].dtype)  # (Q, B, M)
        weights = layer.weights() if not average_attn_weights else layer.weights().mean(1)
        reported = None if original[1] is None else weights.reshape(original[1].shape).to(original[1].dtype)
        return merge_changed(
            layer, F.linear(joined, out_proj_weight, out_proj_bias).reshape(original[0].shape), original[0], 0
        ), reported

    dropout = dropout_p if training else 0.0
    return AttentionCall(
        q, k, v, None, allowed, False, bias, None, None, q.shape[-1] ** -0.5, dropout, cross=cross
    ), replace_answer


def _merge_masks(
    attn_mask: Tensor | None, key_padding_mask: Tensor | None, k_len: int, batch: int
) -> tuple[Tensor | None, Tensor | None]:
    """`allowed` and `bias` from nn.MultiheadAttention's two masks, where True hides; added keys stay visible."""
    masks = []
    if attn_mask is not None:
        masks.append(attn_mask.unflatten(0, (batch, -1)) if attn_mask.dim() == 3 else attn_mask[None, None])
    if key_padding_mask is not None:
        masks.append(key_padding_mask[:, None, None, :])
    padded = [F.pad(mask, (0, k_len - mask.shape[-1])) for mask in masks]  # with False, or 0
    parts = [split_mask(~mask if mask.dtype == torch.bool else mask) for mask in padded]
    allowed = [seen for seen, _ in parts if seen is not None]
    added = [bias for _, bias in parts if bias is not None]
    return reduce(Tensor.logical_and, allowed) if allowed else None, reduce(Tensor.add, added) if added else None


_READERS: dict[Any, Callable[..., TorchCall]] = {
    F.scaled_dot_product_attention: _parse_fused,
    F.multi_head_attention_forward: _parse_multi_head,
    attend: _parse_attend,
}
