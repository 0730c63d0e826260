"""Rotary positions (RoPE): pairs of numbers in q and k are rotated by an angle that grows with the position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.positions import Position
from attnviz.core.rope_scaling import Scaling, frequencies, length_factor

Pairing = Literal["half", "interleaved"]


def rotate(x: Tensor, angles: Tensor, pairing: Pairing = "half", length: float = 1.0) -> Tensor:
    """x (..., T, D) with pair i rotated by angles[..., i], angles (..., T, D/2) in radians; keeps the dtype of x.

    "half" pairs number i with number i + D/2 (Llama in transformers), "interleaved" pairs 2i with 2i + 1
    (the RoPE paper, GPT-J). The two differ only by a permutation of the width.
    """
    wide = torch.promote_types(x.dtype, torch.float32)
    cos, sin = (angles.cos() * length).to(wide), (angles.sin() * length).to(wide)
    if pairing == "half":
        a, b = x.to(wide).chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)
    a, b = x.to(wide).reshape(*x.shape[:-1], x.shape[-1] // 2, 2).unbind(-1)
    return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2).to(x.dtype)


class RoPE(Position):
    """Rotates the first `width` numbers of each query and key head (all of them when None).

    Positions are whole numbers or fractions, (T,) or (B, T).
    """

    def __init__(
        self,
        width: int | None = None,
        base: float = 10_000.0,
        pairing: Pairing = "half",
        scaling: Scaling = None,
    ) -> None:
        super().__init__()
        if pairing not in ("half", "interleaved"):
            raise Problem('pairing={pairing} must be "half" or "interleaved"', pairing=repr(pairing))
        self.width, self.base, self.pairing, self.scaling = width, base, pairing, scaling

    def angles(self, positions: Tensor, width: int) -> Tensor:
        """Angles (..., T, width/2) in radians of positions (..., T), in float64 so that large positions stay exact."""
        return positions.double().unsqueeze(-1) * frequencies(width, self.base, self.scaling).to(positions.device)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """x (..., H, T, D) rotated; positions (T,) or (B, T)."""
        width = self.width or x.shape[-1]
        if width > x.shape[-1]:
            raise Problem("the rotated width {width} is wider than the head, {d_head}", width=width, d_head=x.shape[-1])
        angles = self.angles(positions, width)
        angles = angles.unsqueeze(-3) if angles.dim() > 2 else angles  # one more axis for the heads
        turned = rotate(x[..., :width], angles, self.pairing, length_factor(self.scaling))
        return turned if width == x.shape[-1] else torch.cat([turned, x[..., width:]], dim=-1)


def axis_widths(d_head: int) -> tuple[int, int, int]:
    """The usual split of a head over time, height and width: height and width get about a third each, time the rest."""
    side = 2 * (d_head // 6)
    return d_head - 2 * side, side, side


def grid_positions(frames: int, height: int, width: int) -> Tensor:
    """(time, height, width) of every patch of a video, row by row, (frames*height*width, 3)."""
    return torch.cartesian_prod(torch.arange(frames), torch.arange(height), torch.arange(width))


class AxialRoPE(RoPE):
    """RoPE over three axes: one part of each head is rotated by time, one by height and one by width.

    `widths` are the widths of the three parts (None: `axis_widths`); each has its own frequencies.
    Positions are (T, 3) or (B, T, 3), as `grid_positions` returns them.
    """

    def __init__(
        self, widths: Sequence[int] | None = None, base: float = 10_000.0, pairing: Pairing = "interleaved"
    ) -> None:
        super().__init__(None if widths is None else sum(widths), base, pairing)
        self.widths = None if widths is None else tuple(widths)

    def angles(self, positions: Tensor, width: int) -> Tensor:
        """Angles (..., T, width/2) in radians of positions (..., T, axes), the axes one after another."""
        widths = self.widths or axis_widths(width)
        if positions.dim() < 2 or positions.shape[-1] != len(widths):
            raise Problem(
                "positions have shape {shape}; the last axis must hold {axes} coordinates",
                shape=tuple(positions.shape),
                axes=len(widths),
            )
        axes = positions.double().unbind(-1)
        parts = [
            axis.unsqueeze(-1) * frequencies(w, self.base).to(axis.device) for axis, w in zip(axes, widths, strict=True)
        ]
        return torch.cat(parts, dim=-1)
