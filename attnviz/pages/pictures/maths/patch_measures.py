"""Every head of a picture in numbers and small maps: how far it looks, how spread, how much at the class token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.core import measures
from attnviz.models.pictures import PatchGrid
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, seen_keys

PATCH_MEASURES = ("distance", "entropy", "class")
UNCHANGED = HeadChange()
OUTLIER = 5.0  #: times what the median patch is given, from which on a patch counts as an outlier


def weights_under(stack: PatchStack, at: int, change: HeadChange = UNCHANGED) -> Tensor:
    """(H, Q, K): what each head of a layer gives to each token under a change, from recorded queries and keys.

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


@dataclass(frozen=True, eq=False)
class HeadMaps:
    """Of every head of a stack: its measures (N,), and two rows of weights (N, K): the mean, and the usual one."""

    distance: np.ndarray  #: pixels from a patch to where it looks, on average; NaN where queries are words
    entropy: np.ndarray  #: 0: one token, 1: all alike
    on_class: np.ndarray  #: the share that patches give to the class token; NaN where there is none
    mean: np.ndarray  #: (N, K)
    usual: np.ndarray  #: (N, K): the row that is on show while none is chosen

    def by(self, name: str) -> np.ndarray:
        """The measure of that name, one of PATCH_MEASURES."""
        return {"distance": self.distance, "entropy": self.entropy, "class": self.on_class}[name]


def head_maps(stack: PatchStack, change: HeadChange = UNCHANGED) -> HeadMaps:
    """All heads of a stack under a change, a layer at a time."""
    grid, parts = stack.grid, []
    apart = torch.from_numpy(distances(grid))
    for at in range(len(stack.layers)):
        weights = weights_under(stack, at, change)
        rows = weights if stack.words else weights[:, grid.first :]
        parts.append(
            (
                _distance(rows, apart, grid, bool(stack.words)),
                measures.entropy_share(rows).mean(-1),
                rows[..., 0].mean(-1) if grid.has_class else torch.full((len(rows),), torch.nan),
                rows.mean(-2),
                weights[:, stack.usual],
            )
        )
    return HeadMaps(*(torch.cat(each).double().numpy() for each in zip(*parts, strict=True)))


def _distance(rows: Tensor, apart: Tensor, grid: PatchGrid, words: bool) -> Tensor:
    """Mean pixels from each patch to the patches that it looks at; special tokens lie nowhere and are left out."""
    if words:
        return torch.full((len(rows),), torch.nan)
    seen = rows[..., grid.first :].double()
    total = seen.sum(-1).clamp_min(1e-12)
    return ((seen * apart).sum(-1) / total).mean(-1).float()


def distances(grid: PatchGrid) -> np.ndarray:
    """Pixels between the centres of any two patches, (P, P)."""
    row, column = np.divmod(np.arange(grid.patches), grid.columns)
    y, x = row * grid.patch[0], column * grid.patch[1]
    return np.hypot(y[:, None] - y[None], x[:, None] - x[None])


def rolled_out(stack: PatchStack, change: HeadChange = UNCHANGED) -> np.ndarray:
    """(L, T, T): the share of each token in each after every layer (Abnar and Zuidema 2020)."""
    weights = torch.stack([weights_under(stack, at, change).mean(0) for at in range(len(stack.layers))])
    return measures.rollout(weights[:, None]).numpy()


def mean_of_layers(stack: PatchStack, change: HeadChange = UNCHANGED) -> np.ndarray:
    """(Q, K): the mean of all heads of all layers, each head counting alike."""
    of_layers = (weights_under(stack, at, change).sum(0) for at in range(len(stack.layers)))
    total = sum(of_layers, torch.tensor(0.0))
    return (total / sum(layer.n_heads for layer in stack.layers)).cpu().numpy()


def received(stack: PatchStack, layer: int) -> np.ndarray:
    """(K,): the share that each token is given in a layer, on average over its heads and all that look."""
    return stack.layers[layer].weights()[0].float().mean((0, 1)).cpu().numpy()


def sinks(stack: PatchStack, layer: int) -> tuple[int, ...]:
    """Patches that all others look at, far more than at a patch like any other: `OUTLIER` times the median one.

    Models without registers keep notes of their own in such patches of little content: Darcet et al. 2023, "Vision
    Transformers Need Registers" (arXiv 2309.16588).
    """
    shares = received(stack, layer)[stack.grid.first :]
    return tuple(np.flatnonzero(shares > OUTLIER * np.median(shares)).tolist())
