"""Attention inside windows of a picture (Swin): which patch lies where, and such a layer as one of all patches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

import torch
from torch import Tensor

from attnviz.models.capture import RecordedLayer
from attnviz.models.pictures.patch_grid import vision_config

APART = -50.0  #: a bias below this parts patches that a shift put into one window without their being neighbours


@dataclass(frozen=True)
class Windows:
    """Patches of one stage, and the windows that its layer cuts them into: `side` patches wide, moved by `shift`."""

    stage: int  #: from 0; patches of each are twice as wide as those of the one before
    rows: int
    columns: int
    side: int
    shift: int

    @property
    def is_padded(self) -> bool:
        """Whether windows reach beyond the picture: what is put there is looked at, too."""
        return bool(self.rows % self.side or self.columns % self.side)

    def places(self) -> Tensor:
        """The patch at each place of each window, (windows, side * side); -1 beyond the picture."""
        high, wide = -(-self.rows // self.side) * self.side, -(-self.columns // self.side) * self.side
        numbers = torch.full((high, wide), -1)
        numbers[: self.rows, : self.columns] = torch.arange(self.rows * self.columns).view(self.rows, self.columns)
        moved = numbers.roll((-self.shift, -self.shift), (0, 1))
        cut = moved.view(high // self.side, self.side, wide // self.side, self.side)
        return cut.transpose(1, 2).reshape(-1, self.side**2)


def looks_in_windows(model: Any) -> bool:
    """Whether some layers of a model cut the picture into windows."""
    return any(_has_windows(module) for module in model.modules())


def _has_windows(module: Any) -> bool:
    return hasattr(module, "shift_size") and hasattr(module, "window_size")


def windows_of(model: Any, layer: RecordedLayer, height: int, width: int) -> Windows | None:
    """How a recorded layer cuts a picture of this many pixels into windows; None where it does not."""
    path = layer.name.rsplit(".attention", 1)[0]
    block = model.get_submodule(path) if ".blocks." in path else None
    if block is None or not _has_windows(block):
        return None
    stage = int(path.split(".blocks.")[0].rsplit(".", 1)[1])
    patch = int(vision_config(model).patch_size)
    rows, columns = -(-height // patch), -(-width // patch)
    for _ in range(stage):
        rows, columns = (rows + 1) // 2, (columns + 1) // 2
    return Windows(stage, rows, columns, isqrt(layer.shape[3]), int(block.shift_size))


def of_all_patches(layer: RecordedLayer, windows: Windows) -> RecordedLayer:
    """The same layer over all patches at once: a patch may look at those of its own window, and no others.

    Where windows reach beyond the picture only weights are given, since what lies there takes a share of them.
    """
    places = windows.places().to(layer.device)
    if windows.is_padded or not layer.exact:
        return replace(
            layer, q=None, k=None, v=None, bias=None, allowed=None, norms=None, w_o=None,
            reported=_pairs(layer.weights(), places, windows.rows * windows.columns),
        )  # fmt: skip
    tokens = windows.rows * windows.columns
    bias = None if layer.bias is None else layer.bias.expand(len(places), layer.n_heads, *layer.shape[2:]).float()
    together = torch.ones(len(places), 1, *layer.shape[2:], dtype=torch.bool, device=layer.device)
    if bias is not None:
        together = (bias >= APART).all(1, keepdim=True)
        bias = _pairs(bias.where(together, 0.0), places, tokens)
    allowed = _pairs(together.float(), places, tokens) > 0
    q, k, v = (_tokens(part, places, tokens) for part in (layer.q, layer.k, layer.v))
    return replace(layer, q=q, k=k, v=v, bias=bias, allowed=allowed, causal=False, norms=None, w_o=None)


def seen_in_windows(windows: Windows, hidden: Tensor) -> Tensor:
    """(windows, 1, 1, side * side): False at the places of hidden patches; `hidden` (patches,) is True at those."""
    places = windows.places()
    beyond = places < 0
    return (beyond | ~hidden[places.clamp_min(0)])[:, None, None]


def _tokens(part: Tensor | None, places: Tensor, tokens: int) -> Tensor | None:
    """Vectors of windows (W, H, N, D) as those of patches (1, H, T, D)."""
    if part is None:
        return None
    flat = part.transpose(0, 1).flatten(1, 2)  # (H, W*N, D)
    whole = flat.new_zeros(flat.shape[0], tokens, flat.shape[2])
    whole[:, places.flatten()] = flat
    return whole[None]


def _pairs(part: Tensor, places: Tensor, tokens: int) -> Tensor:
    """Numbers of pairs in windows (W, H, N, N) as those of pairs of patches (1, H, T, T), 0 across windows."""
    whole = part.new_zeros(part.shape[1], tokens, tokens)
    for at, inside in enumerate(places):
        kept = (inside >= 0).nonzero()[:, 0]
        rows, keys = inside[kept][:, None], inside[kept][None]
        whole[:, rows, keys] = part[at][:, kept[:, None], kept[None]]
    return whole[None]
