"""Small questions about heads and shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor


def runs(heads: list[int], step: int, scale_of: Callable[[int], float]) -> Iterator[tuple[int, list[int]]]:
    """Runs of at most `step` heads that share one scale, each with its place in the list."""
    start = 0
    while start < len(heads):
        end = start + 1
        while end < len(heads) and end - start < step and scale_of(heads[end]) == scale_of(heads[start]):
            end += 1
        yield start, heads[start:end]
        start = end


def wide(tensor: Tensor) -> Tensor:
    """At least float32: what is shown should not be coarser than what it shows."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def of_heads(tensor: Tensor, heads: list[int]) -> Tensor:
    """The rows of these heads, where there is one for each head (axis -3)."""
    return tensor[..., heads, :, :] if tensor.dim() >= 3 and tensor.shape[-3] > 1 else tensor


def broadcasts(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a tensor of `shape` stretches to `wanted` without adding to it."""
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    return len(shape) <= len(wanted) and all(have in (1, want) for have, want in pairs)
