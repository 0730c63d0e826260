"""Find the layer that an attention layer's heads go through on their way out, and what it does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from attnviz.models.capture.head_selection import wide

_NAMES = ("o_proj", "out_proj", "c_proj", "o", "out_lin", "wo", "dense", "proj", "to_out", "Wo", "out", "projection")


def output_projection_of(module: nn.Module, parent: nn.Module | None, width: int) -> Tensor | None:
    """W_O as the model applies it now, (M, H*Dv), or None where no layer of that width is found.

    A plain layer's own weight, shared with the model; anything else, such as a layer with a LoRA on it, is asked
    what it makes of each input.
    """
    layer = output_layer_of(module, parent, width)
    if layer is None:
        return None
    weight = _plain_weight(layer)
    if weight is not None:
        return weight
    like = next(layer.parameters()).new_empty(0)
    with _asked(layer) as ask:
        return ask(torch.eye(width, dtype=_number_type(like), device=like.device)).mT


def output_layer_of(module: nn.Module, parent: nn.Module | None, width: int) -> nn.Module | None:
    """The layer itself. Most families keep it inside the attention module; BERT and its kin in the sibling
    `output.dense`.
    """
    places = [module, getattr(module, "output", None), getattr(parent, "output", None), parent]
    for place in places:
        for name in _NAMES:
            layer = getattr(place, name, None)
            if isinstance(layer, nn.Sequential | nn.ModuleList) and len(layer):
                layer = layer[0]
            if isinstance(layer, nn.Module) and _input_width(layer) == width:
                return layer
    return None


def lengths_through(layer: nn.Module, v: Tensor, n_heads: int) -> Tensor:
    """(B, H, K): how long each value is after the head's slice of output layer `layer`, as that is now."""
    with torch.no_grad(), torch.autocast(v.device.type, enabled=False):
        weight = _plain_weight(layer)
        if weight is not None:
            return value_lengths(v, weight, n_heads)
    with _asked(layer) as ask:
        return _asked_lengths(ask, v, n_heads)


def value_lengths(v: Tensor, w_o: Tensor, n_heads: int) -> Tensor:
    """(B, H, K): lengths of v (B, G, K, Dv) after each head's slice of w_o (M, H*Dv).

    |W v|^2 = v.(WTW)v, with WTW only Dv x Dv: where there are many values the M-wide vectors are never made.
    """
    slices = wide(w_o).unflatten(1, (n_heads, -1)).transpose(0, 1)  # (H, M, Dv)
    per_head = wide(v).repeat_interleave(n_heads // v.shape[1], 1)  # (B, H, K, Dv)
    if v.shape[0] * v.shape[2] < v.shape[3]:
        length: Tensor = torch.linalg.vector_norm(per_head @ slices.mT, dim=-1)
        return length
    return _lengths_by_gram(per_head, slices.mT @ slices)


def _lengths_by_gram(values: Tensor, gram: Tensor) -> Tensor:
    squared: Tensor = ((values @ gram) * values).sum(-1)
    return squared.clamp_min(0).sqrt()


def _asked_lengths(ask: Callable[[Tensor], Tensor], v: Tensor, n_heads: int) -> Tensor:
    """The same from what the layer answers, head by head: to the values, or to a basis where that is smaller."""
    b, groups, k_len, width = v.shape
    lengths = torch.empty(b, n_heads, k_len, dtype=wide(v[:0]).dtype, device=v.device)
    few = b * k_len < width
    basis = torch.eye(width, dtype=v.dtype, device=v.device)
    for head in range(n_heads):
        values = v[:, head * groups // n_heads]  # (B, K, Dv)
        rows = values.flatten(0, 1) if few else basis
        given = rows.new_zeros(len(rows), n_heads * width)
        given[:, head * width : (head + 1) * width] = rows
        answered = wide(ask(given))  # (N, M)
        if few:
            lengths[:, head] = torch.linalg.vector_norm(answered, dim=-1).unflatten(0, (b, k_len))
        else:
            lengths[:, head] = _lengths_by_gram(wide(values), answered @ answered.mT)
    return lengths


@contextmanager
def _asked(layer: nn.Module) -> Iterator[Callable[[Tensor], Tensor]]:
    """A function (N, H*Dv) -> (N, M): what `layer` makes of an input beyond its bias, dropout off."""
    training = [module for module in layer.modules() if module.training]

    def ask(rows: Tensor) -> Tensor:
        with torch.no_grad():  # not called as a module: hooks of others would be told of passes that are none
            both: Tensor = layer.forward(torch.cat([rows, rows.new_zeros(1, rows.shape[1])]))
        return both[:-1] - both[-1:]

    try:
        for module in training:
            module.training = False
        yield ask
    finally:
        for module in training:
            module.training = True


def _plain_weight(layer: nn.Module) -> Tensor | None:
    """(M, H*Dv) where the layer does nothing but multiply by it; None where it has to be asked."""
    weight = getattr(layer, "weight", None)
    if not isinstance(weight, Tensor) or weight.is_meta or not weight.is_floating_point() or "forward" in vars(layer):
        return None
    if type(layer).__name__ == "Conv1D":  # GPT-2 keeps its matrices the other way round
        return weight.detach().mT
    return weight.detach() if type(layer) in _PLAIN else None


_PLAIN = (nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear)


def _input_width(layer: nn.Module) -> int | None:
    """How wide its inputs are; None for what is no matrix."""
    width = getattr(layer, "in_features", None)
    if isinstance(width, int):
        return width
    weight = getattr(layer, "weight", None)
    if not isinstance(weight, Tensor) or weight.dim() != 2 or not weight.is_floating_point():
        return None
    return weight.shape[0 if type(layer).__name__ == "Conv1D" else 1]


def _number_type(tensor: Tensor) -> torch.dtype:
    return tensor.dtype if tensor.is_floating_point() else torch.float32
