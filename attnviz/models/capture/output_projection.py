"""Find the output projection W_O of an attention layer in any model."""

from __future__ import annotations

from torch import Tensor, nn

from attnviz.models.capture.head_selection import wide

_NAMES = ("o_proj", "out_proj", "c_proj", "o", "out_lin", "wo", "dense", "proj", "to_out", "Wo", "out", "projection")


def output_projection_of(module: nn.Module, parent: nn.Module | None, width: int) -> Tensor | None:
    """W_O as (M, H*Dv), sharing memory with the model; None if no linear layer with `width` = H*Dv inputs is found.

    Most families have it inside the attention module; BERT and similar models have it in the sibling
    `output.dense`.
    """
    places = [module, getattr(module, "output", None), getattr(parent, "output", None), parent]
    for place in places:
        for name in _NAMES:
            found = _matrix(getattr(place, name, None), width)
            if found is not None:
                return found
    return None


def _matrix(layer: object, width: int) -> Tensor | None:
    if isinstance(layer, nn.Sequential | nn.ModuleList) and len(layer):
        layer = layer[0]
    weight = getattr(layer, "weight", None)
    if not isinstance(weight, Tensor) or weight.dim() != 2:
        return None
    if type(layer).__name__ == "Conv1D":  # GPT-2 stores its matrices transposed
        weight = weight.mT
    return weight.detach() if weight.shape[1] == width and weight.is_floating_point() else None


def value_lengths(v: Tensor, w_o: Tensor, n_heads: int) -> Tensor:
    """Lengths (B, H, K) of the values v (B, G, K, Dv) after each head's slice of w_o (M, H*Dv).

    Uses |W v|^2 = v.(WTW)v, where WTW is only Dv x Dv, so that the M-wide vectors are never computed.
    """
    slices = wide(w_o).unflatten(1, (n_heads, -1)).transpose(0, 1)  # (H, M, Dv)
    gram = slices.mT @ slices  # (H, Dv, Dv)
    per_head = wide(v).repeat_interleave(n_heads // v.shape[1], 1)  # (B, H, K, Dv)
    squared: Tensor = ((per_head @ gram) * per_head).sum(-1)
    return squared.clamp_min(0).sqrt()
