"""Rotary positions (RoPE): pairs of numbers in q and k are rotated by an angle that grows with the position."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attnviz.base.message import Problem, require_at_least
from attnviz.core.positions import Position

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
        scaling: "Scaling" = None,
    ) -> None:
        super().__init__()
        self.width, self.base, self.pairing, self.scaling = width, base, pairing, scaling

    def angles(self, positions: Tensor, width: int) -> Tensor:
        """Angles (..., T, width/2) in radians of positions (..., T), in float64 so that large positions stay exact."""
        return positions.double().unsqueeze(-1) * frequencies(width, self.base, self.scaling).to(positions.device)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """x (..., H, T, D) rotated; positions (T,) or (B, T)."""
        width = self.width or x.shape[-1]
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
        parts = [
            axis.unsqueeze(-1) * frequencies(w, self.base).to(axis.device)
            for axis, w in zip(positions.double().unbind(-1), widths, strict=True)
        ]
        return torch.cat(parts, dim=-1)


# How fast the pairs of rotary positions turn, and how that is scaled for texts longer than trained.
@dataclass(frozen=True)
class Linear:
    """Divides all angles by `factor`, which compresses positions into the length seen in training."""

    factor: float


@dataclass(frozen=True)
class NTK:
    """Raises the base so that the slowest pair is divided by `factor`, while the fastest one is unchanged."""

    factor: float


@dataclass(frozen=True)
class DynamicNTK:
    """NTK with a factor that grows with the text: 1 up to `original_length`, then as long as `length` needs."""

    factor: float
    original_length: int
    length: int  #: of the text that is read now


@dataclass(frozen=True)
class YaRN:
    """Divides the angles of slow pairs by `factor`, leaves fast pairs unchanged, and lengthens q and k.

    A pair that makes more than `beta_fast` turns within `original_length` positions is unchanged, one
    that makes fewer than `beta_slow` is divided by the full factor, with a linear ramp in between.
    q and k are multiplied by `attention_factor` (None: 0.1 ln(factor) + 1). `truncate` rounds the
    ends of the ramp to whole pairs.
    """

    factor: float
    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention_factor: float | None = None
    truncate: bool = True


@dataclass(frozen=True)
class Llama3:
    """Like YaRN with a ramp over the number of turns itself: below `low` divided, above `high` unchanged."""

    factor: float
    original_length: int
    low: float = 1.0
    high: float = 4.0


Scaling = Linear | NTK | DynamicNTK | YaRN | Llama3 | None


def frequencies(width: int, base: float = 10_000.0, scaling: Scaling = None) -> Tensor:
    """Angle per position of each pair, in radians, (width/2,), float64: base^(-2i/width), then scaled."""
    if width < 2 or width % 2:
        raise Problem("the rotated width {width} must be even and at least 2", width=width)
    plain = _unscaled_frequencies(width, base)
    if scaling is None:
        return plain
    require_at_least("factor", scaling.factor, 1)
    if isinstance(scaling, Linear):
        return plain / scaling.factor
    if isinstance(scaling, NTK | DynamicNTK):
        return _unscaled_frequencies(width, _raise_base(base, width, scaling))
    unscaled_share = (
        _yarn_unscaled_share(width, base, scaling)
        if isinstance(scaling, YaRN)
        else _llama3_unscaled_share(plain, scaling)
    )
    return plain * unscaled_share + plain / scaling.factor * (1 - unscaled_share)


def length_factor(scaling: Scaling) -> float:
    """The factor by which rotated vectors are lengthened: 1 except with YaRN."""
    if not isinstance(scaling, YaRN):
        return 1.0
    return 0.1 * math.log(scaling.factor) + 1 if scaling.attention_factor is None else scaling.attention_factor


def _unscaled_frequencies(width: int, base: float) -> Tensor:
    return base ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)


def _raise_base(base: float, width: int, scaling: NTK | DynamicNTK) -> float:
    """The base that makes the slowest of width/2 pairs turn slower by the factor."""
    if width == 2:
        return base  # the only pair is the fastest one
    factor = scaling.factor
    if isinstance(scaling, DynamicNTK):
        longest = max(scaling.length, scaling.original_length)
        factor = factor * longest / scaling.original_length - (factor - 1)
    return float(base * factor ** (width / (width - 2)))


def _llama3_unscaled_share(plain: Tensor, scaling: Llama3) -> Tensor:
    """The share of each pair's frequency that Llama 3 keeps, by the turns it makes in the original length."""
    turns = scaling.original_length * plain / (2 * math.pi)
    return ((turns - scaling.low) / (scaling.high - scaling.low)).clamp(0, 1)


def _yarn_unscaled_share(width: int, base: float, yarn: YaRN) -> Tensor:
    """The share of each pair's original frequency that YaRN keeps, (width/2,): 1 for fast pairs, 0 for slow ones."""

    def pair_that_turns(times: float) -> float:
        return width * math.log(yarn.original_length / (times * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_that_turns(yarn.beta_fast), pair_that_turns(yarn.beta_slow)
    if yarn.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    ramp = (torch.arange(width // 2, dtype=torch.float64) - low) / (high - low if high != low else 0.001)
    return 1 - ramp.clamp(0, 1)
