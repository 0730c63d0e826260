"""Small questions about heads and shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor

from attnviz.core.message import Problem


def equal_scale_groups(
    heads: list[int], step: int, scale_of: Callable[[int], float]
) -> Iterator[tuple[int, list[int]]]:
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


def everything(q_len: int, k_len: int, padding: Tensor | None, device: torch.device) -> Tensor:
    """All True but for padding keys: (B or 1, 1, Q, K)."""
    ones = torch.ones(1, 1, q_len, k_len, dtype=torch.bool, device=device)
    return ones if padding is None else ones & padding


def chosen_heads(heads: int | Iterable[int] | None, n_heads: int, index: int) -> list[int]:
    """The heads asked for as a list, None meaning all of them; one that layer `index` does not have is refused."""
    if heads is None:
        return list(range(n_heads))
    chosen = [heads] if isinstance(heads, int) else [int(head) for head in heads]
    for head in chosen:
        if not 0 <= head < n_heads:
            raise Problem(
                "head {head} does not exist: layer {index} has heads 0 to {last}",
                head=head,
                index=index,
                last=n_heads - 1,
            )
    if not chosen:
        raise Problem("no head was named; layer {index} has heads 0 to {last}", index=index, last=n_heads - 1)
    return chosen
