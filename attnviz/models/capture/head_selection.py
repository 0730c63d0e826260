"""Small helpers to select heads and to compare tensor shapes."""

from collections.abc import Iterable
from operator import index
from typing import Any

import torch
from torch import Tensor

from attnviz.base.message import Problem


def to_float32(tensor: Tensor) -> Tensor:
    """The tensor in at least float32, so that displayed numbers are not rounded to 16 bits."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def select_heads(tensor: Tensor, heads: list[int]) -> Tensor:
    """The slices of these heads along axis -3; the whole tensor if that axis is shared by all heads."""
    return tensor[..., heads, :, :] if tensor.dim() >= 3 and tensor.shape[-3] > 1 else tensor


def broadcasts_to(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a tensor of `shape` broadcasts to exactly `wanted`."""
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    return len(shape) <= len(wanted) and all(have in (1, want) for have, want in pairs)


def to_whole_numbers(value: object) -> list[int] | None:
    """A number or several as a list; None for anything else: a fraction, a text, a bool, or a mask of them."""
    several = isinstance(value, Iterable) and not isinstance(value, str) and getattr(value, "ndim", 1) > 0
    every: list[Any] = list(value) if several else [value]  # type: ignore[call-overload]
    if any(isinstance(entry, bool) or getattr(entry, "dtype", None) == torch.bool for entry in every):
        return None
    try:
        return [index(entry) for entry in every]
    except TypeError:
        return None


def resolve_index(name: str, number: object, count: int) -> int:
    """`number` as an index from 0, negative ones from the end; a Problem unless it is a whole number among `count`."""
    try:
        whole = count if isinstance(number, bool) else index(number)  # type: ignore[arg-type]
    except TypeError:
        whole = count
    if not -count <= whole < count:
        raise Problem(
            "{name}={number} must be a whole number from {first} to {last}",
            name=name,
            number=repr(number)[:60],
            first=-count,
            last=count - 1,
        )
    return whole % count


def resolve_heads(heads: int | Iterable[int] | None, n_heads: int, layer: int) -> list[int]:
    """`heads` as a list, None meaning all, negative ones from the end; a Problem if it is empty or one is not there."""
    chosen = list(range(n_heads)) if heads is None else to_whole_numbers(heads)
    if chosen is None:
        raise Problem("heads={heads} must be a number or several numbers", heads=repr(heads))
    if not chosen:
        raise Problem(
            "heads must name at least one head; layer {index} has heads 0 to {last}", index=layer, last=n_heads - 1
        )
    for head in chosen:
        if not -n_heads <= head < n_heads:
            raise Problem(
                "head {head} does not exist: layer {index} has heads 0 to {last}",
                head=head,
                index=layer,
                last=n_heads - 1,
            )
    return [head % n_heads for head in chosen]
