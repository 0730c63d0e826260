"""A layer's weights with patches hidden and one head's scale changed, from the queries and keys that were recorded."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, seen_keys

UNCHANGED = HeadChange()


def weights_under(stack: PatchStack, at: int, change: HeadChange = UNCHANGED) -> Tensor:
    """(H, Q, K): what each head of a layer gives to each token under a change.

    `change.hidden` counts patches of this stack's own grid. A layer that gives its weights only is left as it is.
    """
    layer = stack.layers[at]
    mask: Any = "model"
    if change.hidden and layer.exact:
        mask = layer.mask & seen_keys(stack.grid, change.hidden).to(layer.device)
    weights = layer.weights(mask=mask)[0].float()
    of, changed, head = change.head
    if change.factor != 1.0 and layer.exact and (of, changed) == (stack.id, at):
        scaled = layer.weights(head, mask=mask, scale=layer.scale_of(head) * change.factor)[0, 0].float()
        weights = weights.index_copy(0, weights.new_tensor([head]).long(), scaled[None])
    return weights
