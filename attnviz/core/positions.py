"""Position encodings that are added to the input or to the scores; rotations are in `attnviz.core.rope`."""

import math

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem, require_at_least


class Position(nn.Module):
    """The three places where positions can enter attention. Each variant overrides one; the others do nothing."""

    def add(self, x: Tensor, positions: Tensor) -> Tensor:
        """Inputs x (..., T, M) with an encoding of the positions, (T,) or (B, T), added."""
        return x

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Queries or keys x (..., H, T, D), rotated according to the positions, (T,) or (B, T)."""
        return x

    def bias(self, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        """The bias to add to the scaled scores, (..., H, Q, K), or None."""
        return None


def sinusoidal(positions: Tensor, width: int, base: float = 10_000.0) -> Tensor:
    """Sines and cosines of the positions (..., T), at width/2 frequencies base^(-2i/width): (..., T, width).

    Sines and cosines alternate, as in the Transformer paper.
    """
    if width < 2 or width % 2:
        raise Problem("width={width} must be even and at least 2", width=width)
    frequency = base ** -(torch.arange(0, width, 2, dtype=torch.float64, device=positions.device) / width)
    angles = positions.double().unsqueeze(-1) * frequency  # (..., T, width/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


class Sinusoidal(Position):
    """Adds `sinusoidal` to the input that queries and keys are projected from."""

    def __init__(self, base: float = 10_000.0) -> None:
        super().__init__()
        self.base = base

    def add(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + sinusoidal(positions, x.shape[-1], self.base).to(x.dtype)


class LearnedPositions(Position):
    """Adds a learned vector for each of the first `longest` positions to the input; there is none for any other."""

    def __init__(self, longest: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(longest, width)

    def add(self, x: Tensor, positions: Tensor) -> Tensor:
        last, longest = int(positions.max()), self.table.num_embeddings
        if last >= longest or int(positions.min()) < 0:
            raise Problem(
                "position {position} has no learned vector: the table ends at {last}",
                position=last if last >= longest else int(positions.min()),
                last=longest - 1,
            )
        learned: Tensor = self.table(positions)
        return x + learned


def alibi_slopes(n_heads: int) -> Tensor:
    """One slope per head, (H,): the geometric sequence that starts at 2^(-8/H) with that same ratio.

    When H is not a power of 2: the slopes for the next lower power, then every other slope for the next higher.
    """
    require_at_least("n_heads", n_heads, 1)
    below = 2 ** int(math.log2(n_heads))
    slopes = [2.0 ** (-8 * (i + 1) / below) for i in range(below)]
    slopes += [2.0 ** (-4 * (2 * i + 1) / below) for i in range(n_heads - below)]
    return torch.tensor(slopes, dtype=torch.float64)


class ALiBi(Position):
    """Subtracts slope * distance from the scores, with a fixed slope per head; nothing is learned."""

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads

    def bias(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        distance = _relative(q_positions, k_positions).abs().unsqueeze(-3)  # (..., 1, Q, K)
        return -alibi_slopes(self.n_heads).to(distance.device)[:, None, None] * distance


def t5_buckets(relative: Tensor, *, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128) -> Tensor:
    """The bucket 0..buckets-1 of each relative position (key minus query), as in T5.

    Short distances have a bucket each; longer ones share buckets whose size grows logarithmically, and
    everything beyond `max_distance` is in the last bucket. With `bidirectional`, half of the buckets are
    for later keys; without it, all later keys are in bucket 0.
    """
    if bidirectional:
        buckets //= 2
    ahead = (relative > 0).long() * buckets if bidirectional else torch.zeros_like(relative)
    distance = relative.abs() if bidirectional else (-relative).clamp(min=0)
    exact = buckets // 2
    growth = (distance.clamp(min=1).float() / exact).log() / math.log(
        max_distance / exact
    )  # float32, as T5 was trained
    far = (exact + (growth * (buckets - exact)).long()).clamp(max=buckets - 1)
    return ahead + distance.where(distance < exact, far)


class T5Bias(Position):
    """Adds a learned number, one per head and distance bucket, to the scores."""

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
