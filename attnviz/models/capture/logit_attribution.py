"""What each head adds to a logit: its way through the output projection, the final norm and the unembedding."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.core.message import Problem
from attnviz.models.capture.head_selection import wide
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.residual import Residual


@dataclass(frozen=True, eq=False)
class LogitAttribution:
    """A logit, or the lead of one over another, taken apart: `attention` is the part that all attention layers add."""

    heads: Tensor  #: (B, L, H); NaN where a layer has fewer heads
    biases: Tensor  #: (B, L): of the output projections' biases
    layers: tuple[str, ...] = ()  #: the layers' dotted names

    @property
    def attention(self) -> Tensor:
        """(B,)"""
        total: Tensor = self.heads.nansum((1, 2)) + self.biases.sum(1)
        return total

    def top(self, n: int = 5, row: int = 0) -> list[tuple[int, int, float]]:
        """(layer, head, what it adds) of the heads that add most, up or down."""
        flat = self.heads[row].flatten()
        order = flat.nan_to_num(0.0).abs().argsort(descending=True)[:n].tolist()
        width = self.heads.shape[2]
        return [(place // width, place % width, float(flat[place])) for place in order]


def attribute(
    layers: tuple[RecordedLayer, ...],
    residual: Residual,
    token: int | Tensor,
    versus: int | Tensor | None,
    positions: Tensor,
) -> LogitAttribution:
    """The contributions at one position of each row, the final norm's scale held fixed."""
    if residual.path is None:
        raise Problem("a logit of this model cannot be taken apart by heads: {why}", why=residual.why)
    length = residual.path.scale.shape[1]
    if not 0 <= int(positions.min()) <= int(positions.max()) < length:
        raise Problem(
            "position={position} must be from 0 to {last}", position=positions.flatten()[0].item(), last=length - 1
        )
    direction = residual.path.direction(token, versus, positions)  # (B, M)
    widest = max(layer.n_heads for layer in layers)
    heads, biases = [], []
    for layer in layers:
        assert layer.w_o is not None
        through = (direction @ wide(layer.w_o)).unflatten(1, (layer.n_heads, -1))  # (B, H, Dv)
        added = (_at(layer, positions) * through).sum(-1)  # (B, H)
        heads.append(torch.nn.functional.pad(added, (0, widest - layer.n_heads), value=torch.nan))
        biases.append(direction.new_zeros(len(direction)) if layer.b_o is None else direction @ wide(layer.b_o))
    return LogitAttribution(torch.stack(heads, 1), torch.stack(biases, 1), tuple(layer.name for layer in layers))


def _at(layer: RecordedLayer, positions: Tensor) -> Tensor:
    """Each head's output at one position of each row, (B, H, Dv)."""
    first, last = int(positions.min()), int(positions.max())
    found = layer.cropped(slice(first, last + 1), slice(None)).head_outputs()
    return found[torch.arange(len(found), device=found.device), :, positions - first]
