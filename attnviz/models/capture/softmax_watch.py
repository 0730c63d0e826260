"""Notice attention that is written out by hand: a softmax over the last axis whose result is multiplied with something.

Such a layer cannot be recorded, since which tensors were its queries and keys is not to be told from a softmax. A trace
without it would be wrong without a word, so the capture counts these and refuses.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

_SOFTMAX = frozenset((torch.softmax, F.softmax, Tensor.softmax, torch.special.softmax))
_PRODUCTS = frozenset(
    (
        *(torch.matmul, torch.bmm, torch.baddbmm, torch.einsum, torch.tensordot),
        *(Tensor.matmul, Tensor.bmm, Tensor.__matmul__, Tensor.__rmatmul__),
    )
)


class SoftmaxWatch:
    """Follows the results of softmax calls until one is multiplied with another tensor."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()  #: by the dotted name of the module
        self._followed: dict[int, weakref.ref[Tensor]] = {}

    def saw(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, place: str) -> None:
        """Take note of one call of a torch function that no known attention made."""
        if func in _SOFTMAX:
            if isinstance(result, Tensor) and result.dim() >= 3 and _over_last_axis(args, kwargs, result):
                self._follow(result)
            return
        if not self._followed:
            return
        coming = next((tensor for tensor in _tensors((args, kwargs)) if self._is_followed(tensor)), None)
        if coming is None:
            return
        if func in _PRODUCTS:
            self.found[place] += 1
            self._followed.pop(id(coming), None)
        elif isinstance(result, Tensor) and result.numel() == coming.numel():
            self._follow(result)  # after dropout, in another number type, in another shape

    def _follow(self, tensor: Tensor) -> None:
        self._followed[id(tensor)] = weakref.ref(tensor)

    def _is_followed(self, tensor: Tensor) -> bool:
        entry = self._followed.get(id(tensor))
        return entry is not None and entry() is tensor


def _over_last_axis(args: tuple[Any, ...], kwargs: dict[str, Any], result: Tensor) -> bool:
    axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
    return axis in (-1, result.dim() - 1)


def _tensors(given: Any) -> Iterator[Tensor]:
    if isinstance(given, Tensor):
        yield given
    elif isinstance(given, tuple | list):
        for entry in given:
            yield from _tensors(entry)
    elif isinstance(given, dict):
        yield from _tensors(tuple(given.values()))
