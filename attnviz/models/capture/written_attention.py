"""Follow attention that a model writes out itself: from the product of queries and keys to that of weights and values.

What a model does between its first product and its softmax (a scale, a bias, a mask, another shape) is done once more
to a product of 0. The result is what does not depend on the product: bias and mask. What is left of the scores must be
a multiple of the product; else only the weights are known.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.weak import WeakTensorKeyDictionary

from attnviz.models.capture.attention_call import AttentionCall, split_mask
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.capture.torch_call import to_four_axes

_SOFTMAX = frozenset((torch.softmax, F.softmax, Tensor.softmax, torch.special.softmax))
_REVERSED = (Tensor.__rmatmul__,)
_WITH_INPUT = (torch.baddbmm, Tensor.baddbmm)
_PRODUCTS = frozenset(
    (
        *(torch.matmul, torch.bmm, torch.einsum, torch.tensordot),
        *(Tensor.matmul, Tensor.bmm, Tensor.__matmul__, *_REVERSED, *_WITH_INPUT),
    )
)
_SWAPS = (torch.transpose, Tensor.transpose, torch.swapaxes, Tensor.swapaxes)
_PERMUTES = (torch.permute, Tensor.permute)
_LAYERS = (F.linear, F.conv1d, F.layer_norm, F.embedding)  #: with parameters; what they give is no longer scores
_STEPS = 16  #: at most, between the product and the softmax


@dataclass(frozen=True, eq=False)
class WrittenScores:
    """Scores that a model computes by hand, while they are on their way to a softmax."""

    q: Tensor  #: (.., Q, D)
    k: Tensor  #: (.., K, D)
    rest: Tensor  #: what the scores would be if all products of queries and keys were 0: bias and mask
    steps: int = 0  #: functions so far
    scores: Tensor | None = None  #: as they reached the softmax
    weights: Tensor | None = None  #: as they left it


@dataclass(frozen=True, eq=False)
class WrittenProduct:
    """A product of weights and values."""

    weights: Tensor  #: (.., Q, K)
    width: int  #: of a value
    values: Tensor | None = None  #: (.., K, Dv); None where the product has its axes in another order
    source: WrittenScores | None = None

    def to_four_axes(self, tensor: Tensor, module: nn.Module, input_shape: torch.Size | None) -> Tensor:
        """(B, H, .., ..); of three axes the first is rows where it is that of the module's input."""
        folded = tensor.dim() == 3 and (input_shape is None or tensor.shape[0] != input_shape[0])
        return to_four_axes(tensor, module) if folded or tensor.dim() != 3 else tensor[:, None]

    def as_call(self, module: nn.Module, input_shape: torch.Size | None) -> AttentionCall | None:
        """The attention call that was written out; None where it is more than a softmax of scaled products."""
        source = self.source
        if source is None or self.values is None or source.scores is None or source.weights is None:
            return None
        if self.weights.dim() > 4 or not _same_numbers(self.weights, source.weights):
            return None  # dropout, or heads that are mixed after the softmax
        tensors = (source.q, source.k, self.values, source.rest, source.scores)
        if any(tensor.dim() > 4 for tensor in tensors):
            return None
        q, k, v, rest, scores = (self.to_four_axes(tensor, module, input_shape) for tensor in tensors)
        if q.shape[:3] != scores.shape[:3] or k.shape[2] != scores.shape[3] or rest.shape != scores.shape:
            return None
        if len(k) != len(q) or len(v) != len(q) or q.shape[1] % k.shape[1] or v.shape[1] != k.shape[1]:
            return None
        allowed, bias = (None if part is None else _shrink(part) for part in split_mask(rest.detach()))
        scale = _find_scale(q, k, rest, scores, allowed)
        return None if scale is None else AttentionCall(q, k, v, None, allowed, False, bias, None, None, scale, 0.0)


def _find_scale(q: Tensor, k: Tensor, rest: Tensor, scores: Tensor, allowed: Tensor | None) -> float | None:
    """The number by which the model multiplies q.kT; None if no number gives its scores."""
    with torch.no_grad():
        products = to_float32(q) @ to_float32(k).repeat_interleave(q.shape[1] // k.shape[1], 1).mT
        difference = to_float32(scores) - to_float32(rest)
        if allowed is not None:
            products, difference = products.masked_fill(~allowed, 0), difference.masked_fill(~allowed, 0)
        square = float(products.square().sum())
        scale = float((difference * products).sum()) / square if square else 1.0
        usual = next((s for s in (1.0, q.shape[-1] ** -0.5) if abs(scale - s) < 1e-3 * s), scale)
        exact = 3e-5 if q.dtype in (torch.float32, torch.float64) else 3e-2
        largest = float(to_float32(scores).masked_fill(difference == 0, 0).abs().max())
        off = float((difference - usual * products).abs().max())
        return usual if off <= exact * (1e-6 + largest) else None


def _same_numbers(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same numbers in the same order, up to the rounding of the coarser type."""
    if one.numel() != other.numel():
        return False
    return torch.equal(one.reshape(-1), other.reshape(-1).to(one.dtype))


def _shrink(tensor: Tensor) -> Tensor:
    """The tensor (B, H, Q, K) with one row and one head where all are the same."""
    for axis in (0, 1):
        first = tensor.narrow(axis, 0, 1)
        if tensor.shape[axis] > 1 and bool((tensor == first).all()):
            tensor = first.clone()
    return tensor


class SoftmaxWatch:
    """Tracks scores to a softmax, and its result, with the axis of the keys, to a product with another tensor."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()  #: of those that were not understood, by the dotted name of the module
        self.open: set[int] = set()  #: numbers of softmaxes of four axes that reached no product: sparse attention
        self._count = 0
        self._numbers = WeakTensorKeyDictionary()  # of the softmax that weights come from
        self._key_axes = WeakTensorKeyDictionary()  # the axis of the keys, from the end; 0 where it is not known
        self._sources = WeakTensorKeyDictionary()  # what is known of the scores behind weights
        self._scores = WeakTensorKeyDictionary()  # products on their way; None: what depends on one in another way

    def observe_call(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, module_name: str
    ) -> WrittenProduct | None:
        """Observe one call of a torch function outside known attention; a product if it is of weights and values."""
        tensors = list(_iterate_tensors((args, kwargs)))
        if func in _SOFTMAX:
            axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
            if isinstance(result, Tensor) and result.dim() >= 3 and axis in (-1, result.dim() - 1):
                self._key_axes[result] = -1
                if result.dim() > 3:
                    self._numbers[result] = self._count
                    self.open.add(self._count)
                    self._count += 1
                known = self._scores.get(tensors[0])
                if known is not None:
                    self._sources[result] = replace(known, scores=tensors[0], weights=result.clone())
            return None
        weights = next((tensor for tensor in tensors if tensor in self._key_axes), None)
        if weights is None:
            self._follow_scores(func, args, kwargs, result, tensors)
            return None
        axis, source = self._key_axes[weights], self._sources.get(weights)
        if func in _PRODUCTS:
            del self._key_axes[weights]
            self.open.discard(self._numbers.get(weights, -1))
            if any(tensor.dim() < 3 for tensor in tensors):
                return None  # a table that serves the whole batch: no values of these positions
            match = _find_weights(func, args, tensors, weights, axis)
            self.counts[module_name] += match is None
            self.counts += Counter()  # without zeros
            return None if match is None else replace(match, source=source)
        if isinstance(result, Tensor) and result.numel() == weights.numel():
            self._key_axes[result] = _key_axis_after(func, args, weights, axis, result)
            if source is not None:
                self._sources[result] = source
            if weights in self._numbers:
                self._numbers[result] = self._numbers[weights]
        return None

    def _follow_scores(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, tensors: list[Tensor]
    ) -> None:
        """Note a product of queries and keys, or what a function makes of one."""
        target = args[0] if func is Tensor.__setitem__ else result
        if not isinstance(target, Tensor) or target.dim() < 3 or not target.is_floating_point():
            return
        if func in _LAYERS and all(isinstance(table, nn.Parameter) for table in tensors[1:]):
            return
        if func in _PRODUCTS or func in _LAYERS:
            self._scores[target] = None  # it may depend on what a query holds
            operands = _find_operands(func, args, tensors) if func in _PRODUCTS else None
            if operands is not None:
                left, q, k = operands
                zeros = self._repeat(func, args, kwargs, left, torch.zeros_like(left))
                self._scores[target] = None if zeros is None else WrittenScores(q, k, zeros)
            return
        before = {id(tensor): self._scores[tensor] for tensor in tensors if tensor in self._scores}
        if not before:
            return
        (known, *others), after = before.values(), None
        if known is not None and not others and known.steps < _STEPS and target.shape[-2:] == known.rest.shape[-2:]:
            scores = next(tensor for tensor in tensors if tensor in self._scores)
            rest = self._repeat(func, args, kwargs, scores, known.rest)
            if func is Tensor.__setitem__:
                rest = known.rest
            if rest is not None and rest.shape == target.shape:
                after = replace(known, rest=rest, steps=known.steps + 1)
        self._scores[target] = after

    @staticmethod
    def _repeat(func: Any, args: Any, kwargs: Any, old: Tensor, new: Tensor) -> Tensor | None:
        """Result of a call with another tensor in place of `old`; None where it does not go with it."""
        try:
            with torch.no_grad():
                result = func(*_put(args, old, new), **_put(kwargs, old, new))
        except RuntimeError:  # such as a view of what lies in memory in another way
            return None
        return result if isinstance(result, Tensor) else None


def _put(value: Any, old: Tensor, new: Tensor) -> Any:
    """Arguments with `new` in place of `old`."""
    if value is old:
        return new
    if type(value) in (tuple, list):
        return type(value)(_put(entry, old, new) for entry in value)
    return {name: _put(entry, old, new) for name, entry in value.items()} if type(value) is dict else value


def _find_operands(func: Any, args: tuple[Any, ...], tensors: list[Tensor]) -> tuple[Tensor, Tensor, Tensor] | None:
    """First operand of a product (.., Q, K), queries (.., Q, D) and keys (.., K, D); None of another product."""
    if len(tensors) != 2 + (func in _WITH_INPUT) or any(tensor.dim() < 3 for tensor in tensors[-2:]):
        return None
    if func is torch.einsum:
        return _find_operands_in_einsum(str(args[0]).replace(" ", ""), tensors)
    left, right = reversed(tensors) if func in _REVERSED else tensors[-2:]
    return None if func is torch.tensordot else (left, left, right.mT)


def _find_operands_in_einsum(equation: str, tensors: list[Tensor]) -> tuple[Tensor, Tensor, Tensor] | None:
    """The same of an `einsum` such as "bqhd,bkhd->bhqk"."""
    names = re.fullmatch(r"(\w+),(\w+)->(\w+)(\w)(\w)", equation)
    if names is None:
        return None
    first, second, lead, query, key = names.groups()
    inner = set(first) & set(second) - set(lead)
    if len(inner) != 1 or not set(lead) <= set(first) & set(second):
        return None
    d, (a, b) = inner.pop(), tensors
    if query not in first:
        (a, first), (b, second) = (b, second), (a, first)
    if set(first) != {*lead, query, d} or set(second) != {*lead, key, d}:
        return None
    q, k = torch.einsum(f"{first}->{lead}{query}{d}", a), torch.einsum(f"{second}->{lead}{key}{d}", b)
    return a, q, k


def _find_weights(
    func: Any, args: tuple[Any, ...], tensors: list[Tensor], weights: Tensor, axis: int
) -> WrittenProduct | None:
    """Weights and values of a product; None where they cannot be identified."""
    if len(tensors) != 2 or axis == 0 or func is torch.tensordot:
        return None
    if func is torch.einsum:
        return _find_weights_in_einsum(str(args[0]).replace(" ", ""), tensors, weights, axis)
    left, right = reversed(tensors) if func in _REVERSED else tensors
    if left is weights and axis == -1:
        return WrittenProduct(weights, right.shape[-1], right)
    return WrittenProduct(weights.mT, left.shape[-2]) if right is weights and axis == -2 else None


def _find_weights_in_einsum(equation: str, tensors: list[Tensor], weights: Tensor, axis: int) -> WrittenProduct | None:
    """Weights and values of an `einsum`, such as "bhqk,bhkd->bhqd"."""
    inputs, _, output = equation.partition("->")
    names = inputs.split(",")
    weight_letters, value_letters = names if tensors[0] is weights else reversed(names)
    values = tensors[1] if tensors[0] is weights else tensors[0]
    widths = set(value_letters) - set(weight_letters) - {"."}
    if (
        axis != -1
        or weight_letters[-1] in output
        or weight_letters[-2] not in output
        or len(widths) != 1
        or "." in value_letters
    ):
        return None
    width = widths.pop()
    size, order = values.shape[value_letters.index(width)], f"{weight_letters[:-2]}{weight_letters[-1]}{width}"
    as_product = output == weight_letters[:-1] + width and sorted(order) == sorted(value_letters)
    return WrittenProduct(weights, size, torch.einsum(f"{value_letters}->{order}", values) if as_product else None)


def _key_axis_after(func: Any, args: tuple[Any, ...], weights: Tensor, axis: int, result: Tensor) -> int:
    """Axis of the keys, from the end, after a reshaping or elementwise function; 0 where it is not known."""
    count = weights.dim()
    if axis == 0 or getattr(func, "__name__", "") == "__get__":  # .T and .mT
        return 0
    if func in _SWAPS or func in _PERMUTES:
        axes = [dim % count for dim in (args[1] if isinstance(args[1], tuple | list) else args[1:])]
        order = list(range(count))
        if func in _PERMUTES:
            order = axes
        else:
            order[axes[0]], order[axes[1]] = axes[1], axes[0]
        return order.index(axis % count) - count
    keeps_keys = result.shape == weights.shape or (axis == -1 and result.shape[-1] == weights.shape[-1])
    return axis if keeps_keys else 0


def _iterate_tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple | list | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _iterate_tensors(entry)
