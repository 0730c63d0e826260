"""Attention that a model writes out itself: what a softmax gave, until it is multiplied with what it weighs."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.weak import WeakTensorKeyDictionary

_SOFTMAX = frozenset((torch.softmax, F.softmax, Tensor.softmax, torch.special.softmax))
_REVERSED = (Tensor.__rmatmul__,)
_PRODUCTS = frozenset(
    (
        *(torch.matmul, torch.bmm, torch.baddbmm, torch.einsum, torch.tensordot),
        *(Tensor.matmul, Tensor.bmm, Tensor.__matmul__, *_REVERSED),
    )
)
_SWAPS = (torch.transpose, Tensor.transpose, torch.swapaxes, Tensor.swapaxes)
_PERMUTES = (torch.permute, Tensor.permute)


class SoftmaxWatch:
    """Follows the results of softmax calls, and where their keys are, until one is multiplied with another tensor."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()  #: of those that were not understood, by the dotted name of the module
        self._followed = WeakTensorKeyDictionary()  # the axis of the keys, from the end; 0 where it is not known

    def saw(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, place: str
    ) -> tuple[Tensor, int] | None:
        """Take note of one call of a torch function that no known attention made.

        Where it weighed values: the weights (.., Q, K), and how many numbers a value has.
        """
        if func in _SOFTMAX:
            axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
            if isinstance(result, Tensor) and result.dim() >= 3 and axis in (-1, result.dim() - 1):
                self._followed[result] = -1
            return None
        tensors = list(_tensors((args, kwargs)))
        given = next((tensor for tensor in tensors if tensor in self._followed), None)
        if given is None:
            return None
        axis = self._followed[given]
        if func in _PRODUCTS:
            del self._followed[given]
            if any(tensor.dim() < 3 for tensor in tensors):
                return None  # a table that serves the whole batch: no values of these positions
            found = _weighed(func, args, tensors, given, axis)
            self.counts[place] += found is None
            self.counts += Counter()  # without zeros
            return found
        if isinstance(result, Tensor) and result.numel() == given.numel():
            self._followed[result] = _axis_after(func, args, given, axis, result)
        return None


def _weighed(
    func: Any, args: tuple[Any, ...], tensors: list[Tensor], given: Tensor, axis: int
) -> tuple[Tensor, int] | None:
    """The weights (.., Q, K) in a product, and the width of what they weigh; None where that cannot be told."""
    if len(tensors) != 2 or axis == 0 or func is torch.tensordot:
        return None
    if func is torch.einsum:
        return _in_letters(str(args[0]).replace(" ", ""), tensors, given, axis)
    left, right = reversed(tensors) if func in _REVERSED else tensors
    if left is given and axis == -1:
        return given, right.shape[-1]
    return (given.mT, left.shape[-2]) if right is given and axis == -2 else None


def _in_letters(written: str, tensors: list[Tensor], given: Tensor, axis: int) -> tuple[Tensor, int] | None:
    """The same for `einsum`, such as "bhqk,bhkd->bhqd"."""
    inputs, _, output = written.partition("->")
    names = inputs.split(",")
    mine, other = names if tensors[0] is given else reversed(names)
    others = tensors[1] if tensors[0] is given else tensors[0]
    widths = set(other) - set(mine) - {"."}
    if axis != -1 or mine[-1] in output or mine[-2] not in output or len(widths) != 1 or "." in other:
        return None
    return given, others.shape[other.index(widths.pop())]


def _axis_after(func: Any, args: tuple[Any, ...], given: Tensor, axis: int, result: Tensor) -> int:
    """Where the keys are after a function that keeps all numbers, or changes each; 0 where that cannot be told."""
    count = given.dim()
    if axis == 0 or getattr(func, "__name__", "") == "__get__":  # .T and .mT
        return 0
    if func in _SWAPS or func in _PERMUTES:
        said = [each % count for each in (args[1] if isinstance(args[1], tuple | list) else args[1:])]
        order = list(range(count))
        if func in _PERMUTES:
            order = said
        else:
            order[said[0]], order[said[1]] = said[1], said[0]
        return order.index(axis % count) - count
    kept = result.shape == given.shape or (axis == -1 and result.shape[-1] == given.shape[-1])
    return axis if kept else 0


def _tensors(given: Any) -> Iterator[Tensor]:
    if isinstance(given, Tensor):
        yield given
    elif isinstance(given, tuple | list | dict):
        for entry in given.values() if isinstance(given, dict) else given:
            yield from _tensors(entry)
