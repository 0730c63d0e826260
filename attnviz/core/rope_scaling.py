"""How fast the pairs of rotary positions turn, and how that is scaled for texts longer than trained."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.base.message import Problem


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
    plain = _plain(width, base)
    if scaling is None:
        return plain
    if scaling.factor < 1:
        raise Problem("factor={factor} must be at least 1", factor=scaling.factor)
    if isinstance(scaling, Linear):
        return plain / scaling.factor
    if isinstance(scaling, NTK | DynamicNTK):
        return _plain(width, _raised(base, width, scaling))
    kept = _left_alone(width, base, scaling) if isinstance(scaling, YaRN) else _turns_share(plain, scaling)
    return plain * kept + plain / scaling.factor * (1 - kept)


def length_factor(scaling: Scaling) -> float:
    """The factor by which rotated vectors are lengthened: 1 except with YaRN."""
    if not isinstance(scaling, YaRN):
        return 1.0
    return 0.1 * math.log(scaling.factor) + 1 if scaling.attention_factor is None else scaling.attention_factor


def _plain(width: int, base: float) -> Tensor:
    return base ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)


def _raised(base: float, width: int, scaling: NTK | DynamicNTK) -> float:
    """The base that makes the slowest of width/2 pairs turn slower by the factor."""
    if width == 2:
        return base  # the only pair is the fastest one
    factor = scaling.factor
    if isinstance(scaling, DynamicNTK):
        longest = max(scaling.length, scaling.original_length)
        factor = factor * longest / scaling.original_length - (factor - 1)
    return float(base * factor ** (width / (width - 2)))


def _turns_share(plain: Tensor, scaling: Llama3) -> Tensor:
    """The share of each pair's frequency that Llama 3 keeps, by the turns it makes in the original length."""
    turns = scaling.original_length * plain / (2 * math.pi)
    return ((turns - scaling.low) / (scaling.high - scaling.low)).clamp(0, 1)


def _left_alone(width: int, base: float, yarn: YaRN) -> Tensor:
    """The share of each pair's original frequency that YaRN keeps, (width/2,): 1 for fast pairs, 0 for slow ones."""

    def pair_that_turns(times: float) -> float:
        return width * math.log(yarn.original_length / (times * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_that_turns(yarn.beta_fast), pair_that_turns(yarn.beta_slow)
    if yarn.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    ramp = (torch.arange(width // 2, dtype=torch.float64) - low) / (high - low if high != low else 0.001)
    return 1 - ramp.clamp(0, 1)
