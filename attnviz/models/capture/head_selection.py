"""Small helpers to select heads and to compare tensor shapes."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index as as_index

import torch
from torch import Tensor

from attnviz.base.message import Problem


def wide(tensor: Tensor) -> Tensor:
    """The tensor in at least float32, so that displayed numbers are not rounded to 16 bits."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def of_heads(tensor: Tensor, heads: list[int]) -> Tensor:
    """The slices of these heads along axis -3; the whole tensor if that axis is shared by all heads."""
    return tensor[..., heads, :, :] if tensor.dim() >= 3 and tensor.shape[-3] > 1 else tensor


def broadcasts(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a tensor of `shape` broadcasts to exactly `wanted`."""
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    return len(shape) <= len(wanted) and all(have in (1, want) for have, want in pairs)


def whole_number(given: object) -> int:
    """`given` as an int; TypeError for a fraction, a text or a bool, since a mask of heads is no list of numbers."""
    if isinstance(given, bool) or getattr(given, "dtype", None) == torch.bool:
        raise TypeError(given)
    return as_index(given)  # type: ignore[arg-type]


def chosen_heads(heads: int | Iterable[int] | None, n_heads: int, index: int) -> list[int]:
    """`heads` as a list, None meaning all heads; a Problem if it is empty or names a head that layer `index` lacks."""
    if heads is None:
        return list(range(n_heads))
    try:
        chosen = [whole_number(heads)] if not isinstance(heads, Iterable) else [whole_number(head) for head in heads]
    except TypeError as error:
        raise Problem("heads={heads} must be a number or several numbers", heads=repr(heads)) from error
    for head in chosen:
        if not 0 <= head < n_heads:
            raise Problem(
                "head {head} does not exist: layer {index} has heads 0 to {last}",
                head=head,
                index=index,
                last=n_heads - 1,
            )
    if not chosen:
        raise Problem(
            "heads must name at least one head; layer {index} has heads 0 to {last}", index=index, last=n_heads - 1
        )
    return chosen
