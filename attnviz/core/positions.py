"""Where a token stands: added to the input, or as a bias on the scores; rotations are in attnviz.core.rope."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnviz.core.message import Problem


class Position(nn.Module):
    """The three places where a position can act. Each variant overrides one; the others do nothing."""

    def add(self, x: Tensor, positions: Tensor) -> Tensor:
        """Inputs (..., T, M) with the positions (T,) or (B, T) put in."""
        return x

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Queries or keys (..., H, T, D) with the positions put in."""
        return x

    def bias(self, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        """What is added to the scaled scores, (..., H, Q, K), or None."""
        return None


def sinusoidal(positions: Tensor, width: int, base: float = 10_000.0, *, halves: bool = False) -> Tensor:
    """Sines and cosines of the positions (..., T), at width/2 frequencies base^(-2i/width): (..., T, width).

    Interleaved sin, cos, sin, cos as in the Transformer paper, or, with `halves`, all sines and
    then all cosines: the same numbers, the width permuted.
    """
    if width < 2 or width % 2:
        raise Problem("width={width} must be even and at least 2", width=width)
    frequency = base ** -(torch.arange(0, width, 2, dtype=torch.float64, device=positions.device) / width)
    angles = positions.double().unsqueeze(-1) * frequency  # (..., T, width/2)
    if halves:
        return torch.cat([angles.sin(), angles.cos()], dim=-1)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


class Sinusoidal(Position):
    """`sinusoidal` added to the inputs of queries and keys."""

    def __init__(self, base: float = 10_000.0, *, halves: bool = False) -> None:
        super().__init__()
        self.base, self.halves = base, halves

    def add(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + sinusoidal(positions, x.shape[-1], self.base, halves=self.halves).to(x.dtype)


def alibi_slopes(n_heads: int) -> Tensor:
    """One slope per head, (H,): 2^(-8/H), its square, and so on; for H not a power of 2, that of the power below,
    then every other slope of the power above."""
    if n_heads < 1:
        raise Problem("n_heads={n_heads} must be at least 1", n_heads=n_heads)
    below = 2 ** int(math.log2(n_heads))
    slopes = [2.0 ** (-8 * (i + 1) / below) for i in range(below)]
    slopes += [2.0 ** (-4 * (2 * i + 1) / below) for i in range(n_heads - below)]
    return torch.tensor(slopes, dtype=torch.float64)


class ALiBi(Position):
    """Scores lose slope x distance, one slope per head; nothing is learned."""

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads

    def bias(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        distance = _relative(q_positions, k_positions).abs().unsqueeze(-3)  # (..., 1, Q, K)
        return -alibi_slopes(self.n_heads).to(distance.device)[:, None, None] * distance


def t5_buckets(relative: Tensor, *, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128) -> Tensor:
    """The bucket 0..buckets-1 of each relative position (key minus query), as in T5.

    Near distances have a bucket each, farther ones share buckets that grow logarithmically, all
    beyond `max_distance` the last. Bidirectional: half the buckets for keys ahead; otherwise all
    keys ahead fall into bucket 0.
    """
    if bidirectional:
        buckets //= 2
    if buckets < 2 or max_distance <= buckets // 2:
        raise Problem(
            "buckets={buckets} a side must be at least 2, and max_distance={max_distance} above half of that",
            buckets=buckets,
            max_distance=max_distance,
        )
    ahead = (relative > 0).long() * buckets if bidirectional else torch.zeros_like(relative)
    distance = relative.abs() if bidirectional else (-relative).clamp(min=0)
    exact = buckets // 2
    growth = (distance.clamp(min=1).float() / exact).log() / math.log(
        max_distance / exact
    )  # float32, as T5 was trained
    far = (exact + (growth * (buckets - exact)).long()).clamp(max=buckets - 1)
    return ahead + distance.where(distance < exact, far)


class T5Bias(Position):
    """A learned number per head and bucket of distance, added to the scores."""

    def __init__(self, n_heads: int, *, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128) -> None:
        super().__init__()
        self.bidirectional, self.buckets, self.max_distance = bidirectional, buckets, max_distance
        self.table = nn.Embedding(buckets, n_heads)

    def bias(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        bucket = t5_buckets(
            _relative(q_positions, k_positions),
            bidirectional=self.bidirectional,
            buckets=self.buckets,
            max_distance=self.max_distance,
        )
        learned: Tensor = self.table(bucket)  # (..., Q, K, H)
        return learned.movedim(-1, -3)


def _relative(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """Key position minus query position, (..., Q, K)."""
    return k_positions.unsqueeze(-2) - q_positions.unsqueeze(-1)
