"""Find the output projection W_O of an attention layer in any model, and measure values after it."""

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.models.capture.forward_pass import input_device
from attnviz.models.capture.head_selection import to_float32

_NAMES = ("o_proj", "out_proj", "c_proj", "o", "out_lin", "wo", "dense", "proj", "to_out", "Wo", "out", "projection")


def find_output_projection(module: nn.Module, parent: nn.Module | None, width: int) -> Tensor | None:
    """W_O as (M, H*Dv), as the model applies it now; None if no layer with `width` = H*Dv inputs is found.

    It shares memory with the model if the layer is a plain linear layer. Any other layer, such as one with a LoRA
    adapter, is run on the identity matrix.
    """
    layer = find_output_layer(module, parent, width)
    return None if layer is None else projection_weight(layer, width)


def copy_projection(layer: nn.Module, width: int) -> tuple[Tensor, Tensor | None]:
    """Copies of the matrix (M, H*Dv) and the bias (M,) of an output projection."""
    return projection_weight(layer, width).detach().clone(), layer_bias(layer)


def projection_weight(layer: nn.Module, width: int) -> Tensor:
    """The matrix (N, width) of a linear layer, as the model applies it now, even quantised or offloaded."""
    weight = _plain_weight(layer)
    if weight is not None:
        return weight
    like = next((p for p in layer.parameters() if p.is_floating_point()), torch.zeros(0))
    return _make_projection(layer)(torch.eye(width, dtype=like.dtype, device=input_device(layer))).mT


def layer_bias(layer: nn.Module) -> Tensor | None:
    """A copy of the bias of a linear layer; None without one."""
    bias = getattr(layer, "bias", None)
    bias = bias() if callable(bias) else bias  # of a quantised layer
    if not isinstance(bias, Tensor):
        return None
    if not bias.is_meta:
        return bias.detach().clone()
    width = _input_width(layer) or 0
    with torch.no_grad():
        answer: Tensor = layer.forward(torch.zeros(1, width, dtype=bias.dtype))
    return answer[0]


def find_output_layer(module: nn.Module, parent: nn.Module | None, width: int) -> nn.Module | None:
    """The layer that applies W_O; None if none with `width` = H*Dv inputs is found.

    Most families have it inside the attention module; BERT and similar models have it in the sibling `output.dense`.
    """
    for owner in (module, getattr(module, "output", None), getattr(parent, "output", None), parent):
        for name in _NAMES:
            layer = getattr(owner, name, None)
            if isinstance(layer, nn.Sequential | nn.ModuleList) and len(layer):
                layer = layer[0]
            if isinstance(layer, nn.Module) and _input_width(layer) == width:
                return layer
    return None


def projected_lengths(layer: nn.Module, v: Tensor, n_heads: int) -> Tensor:
    """Lengths (B, H, K) of the values v (B, G, K, Dv) after each head's slice of the output projection `layer`."""
    with torch.no_grad(), torch.autocast(v.device.type, enabled=False):
        weight = _plain_weight(layer)
        if weight is not None:
            return value_lengths(v, weight, n_heads)
    return _lengths_by_running(_make_projection(layer), v, n_heads)


def head_slices(w_o: Tensor, n_heads: int) -> Tensor:
    """Slices (H, M, Dv) of w_o (M, H*Dv), one for each head."""
    return to_float32(w_o).unflatten(1, (n_heads, -1)).transpose(0, 1)


def value_lengths(v: Tensor, w_o: Tensor, n_heads: int) -> Tensor:
    """Lengths (B, H, K) of the values v (B, G, K, Dv) after each head's slice of w_o (M, H*Dv).

    With many values it uses |W v|^2 = v.(WTW)v, where WTW is only Dv x Dv, so that the M-wide vectors are never
    computed.
    """
    slices = head_slices(w_o, n_heads)
    per_head = to_float32(v).repeat_interleave(n_heads // v.shape[1], 1)  # (B, H, K, Dv)
    if v.shape[0] * v.shape[2] < v.shape[3]:
        return torch.linalg.vector_norm(per_head @ slices.mT, dim=-1)
    return _lengths_by_gram(per_head, slices.mT @ slices)


def _lengths_by_gram(values: Tensor, gram: Tensor) -> Tensor:
    squared: Tensor = ((values @ gram) * values).sum(-1)
    return squared.clamp_min(0).sqrt()


def _lengths_by_running(ask: Callable[[Tensor], Tensor], v: Tensor, n_heads: int) -> Tensor:
    """The same lengths by running the layer, head by head, on the values or on a basis, whichever is smaller."""
    b, groups, k_len, width = v.shape
    lengths = torch.empty(b, n_heads, k_len, dtype=to_float32(v[:0]).dtype, device=v.device)
    few = b * k_len < width
    basis = torch.eye(width, dtype=v.dtype, device=v.device)
    for head in range(n_heads):
        values = v[:, head * groups // n_heads]  # (B, K, Dv)
        rows = values.flatten(0, 1) if few else basis
        inputs = rows.new_zeros(len(rows), n_heads * width)
        inputs[:, head * width : (head + 1) * width] = rows
        answered = to_float32(ask(inputs))  # (N, M)
        if few:
            lengths[:, head] = torch.linalg.vector_norm(answered, dim=-1).unflatten(0, (b, k_len))
        else:
            lengths[:, head] = _lengths_by_gram(to_float32(values), answered @ answered.mT)
    return lengths


def _make_projection(layer: nn.Module) -> Callable[[Tensor], Tensor]:
    """A function (N, H*Dv) -> (N, M) that applies `layer` without its bias and with dropout off."""
    still = _copy_in_eval(layer, {})

    def ask(rows: Tensor) -> Tensor:
        with torch.no_grad():  # not called as a module, so that forward hooks do not run
            both: Tensor = still.forward(torch.cat([rows, rows.new_zeros(1, rows.shape[1])]))
        return both[:-1] - both[-1:]

    return ask


def _copy_in_eval(module: nn.Module, copies: dict[int, nn.Module]) -> nn.Module:
    """Second module object on the same weights, in evaluation mode.

    The module itself is not switched: other threads may be training or running it.
    """
    if id(module) in copies:
        return copies[id(module)]
    still = copies[id(module)] = object.__new__(type(module))  # no copy(): some modules refuse to be copied
    attributes = vars(still)
    attributes.update({name: _rebind(still, module, value) for name, value in vars(module).items()}, training=False)
    attributes["_modules"] = {name: child and _copy_in_eval(child, copies) for name, child in module._modules.items()}
    return still


def _rebind(still: nn.Module, module: nn.Module, value: Any) -> Any:
    """Bind an instance method, such as a wrapped `forward`, to the copy instead of the module."""
    if isinstance(value, MethodType) and value.__self__ is module:
        return MethodType(value.__func__, still)
    if isinstance(value, partial) and value.args[:1] == (module,):
        return partial(value.func, still, *value.args[1:], **value.keywords)
    return value


def _plain_weight(layer: nn.Module) -> Tensor | None:
    """The weight as (M, H*Dv) if the layer only multiplies by it (and adds a bias); None if it has to be run."""
    weight = getattr(layer, "weight", None)
    if not isinstance(weight, Tensor) or weight.is_meta or not weight.is_floating_point() or "forward" in vars(layer):
        return None
    if type(layer).__name__ == "Conv1D":  # GPT-2 stores its matrices transposed
        return weight.detach().mT
    return weight.detach() if type(layer) in _PLAIN else None


_PLAIN = (nn.Linear, nn.modules.linear.NonDynamicallyQuantizableLinear)


def _input_width(layer: nn.Module) -> int | None:
    """The width of the layer's inputs; None if it is not a linear layer."""
    width = getattr(layer, "in_features", None)
    if isinstance(width, int):
        return width
    weight = getattr(layer, "weight", None)
    if not isinstance(weight, Tensor) or weight.dim() != 2 or not weight.is_floating_point():
        return None
    return weight.shape[0 if type(layer).__name__ == "Conv1D" else 1]
