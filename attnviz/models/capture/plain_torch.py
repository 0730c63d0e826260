"""Record the attention of any torch model that calls an attention function of torch or attnviz.

A TorchFunctionMode sees each call of a torch function. Known attention functions are recorded with the dotted name of
the running module. Attention written as softmax and product is recorded by its weights, and refused where these cannot
be identified: see `SoftmaxWatch`.
"""

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from attnviz.base.message import Message, MessageList, Problem
from attnviz.models.capture.attention_call import AttentionCall
from attnviz.models.capture.forward_pass import (
    Logits,
    attach_hooks,
    disable_compile,
    plain_name,
    select_ids_and_masks,
    this_thread_only,
)
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName
from attnviz.models.capture.recorder import Change, Recorder, require_gradient
from attnviz.models.capture.residual_watch import ResidualWatch
from attnviz.models.capture.torch_call import parse_torch_call, to_four_axes
from attnviz.models.capture.trace import Trace

# Attention that a model writes out itself: what a softmax gave, until it is multiplied with what it weighs.
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
    """Tracks softmax results, and the axis of their keys, until one is multiplied with another tensor."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()  #: of those that were not understood, by the dotted name of the module
        self._key_axes = WeakTensorKeyDictionary()  # the axis of the keys, from the end; 0 where it is not known

    def observe_call(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, module_name: str
    ) -> tuple[Tensor, int] | None:
        """Observe one call of a torch function outside known attention.

        If it multiplies weights with values: the weights (.., Q, K) and the width of a value; else None.
        """
        if func in _SOFTMAX:
            axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
            if isinstance(result, Tensor) and result.dim() >= 3 and axis in (-1, result.dim() - 1):
                self._key_axes[result] = -1
            return None
        tensors = list(_iterate_tensors((args, kwargs)))
        weights = next((tensor for tensor in tensors if tensor in self._key_axes), None)
        if weights is None:
            return None
        axis = self._key_axes[weights]
        if func in _PRODUCTS:
            del self._key_axes[weights]
            if any(tensor.dim() < 3 for tensor in tensors):
                return None  # a table that serves the whole batch: no values of these positions
            match = _find_weights(func, args, tensors, weights, axis)
            self.counts[module_name] += match is None
            self.counts += Counter()  # without zeros
            return match
        if isinstance(result, Tensor) and result.numel() == weights.numel():
            self._key_axes[result] = _key_axis_after(func, args, weights, axis, result)
        return None


def _find_weights(
    func: Any, args: tuple[Any, ...], tensors: list[Tensor], weights: Tensor, axis: int
) -> tuple[Tensor, int] | None:
    """Weights (.., Q, K) in a product and the width of the values; None where they cannot be identified."""
    if len(tensors) != 2 or axis == 0 or func is torch.tensordot:
        return None
    if func is torch.einsum:
        return _find_weights_in_einsum(str(args[0]).replace(" ", ""), tensors, weights, axis)
    left, right = reversed(tensors) if func in _REVERSED else tensors
    if left is weights and axis == -1:
        return weights, right.shape[-1]
    return (weights.mT, left.shape[-2]) if right is weights and axis == -2 else None


def _find_weights_in_einsum(
    equation: str, tensors: list[Tensor], weights: Tensor, axis: int
) -> tuple[Tensor, int] | None:
    """Weights and the width of the values in an `einsum`, such as "bhqk,bhkd->bhqd"."""
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
    return weights, values.shape[value_letters.index(widths.pop())]


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


def record_plain(
    model: nn.Module,
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool,
    residual: bool | str,
    change: Change,
) -> Trace:
    """Run `model` once and record every attention call; raises a Problem where one cannot be recorded.

    A layer that `change` replaces returns the output of its replacement.
    """
    stream = ResidualWatch(model)
    with (
        torch.set_grad_enabled(grad),
        stream.watch_pass(bool(residual)),
        record_calls(model, PlainRecorder(model, grad, residual, change)) as recorder,
    ):
        output = model(*args, **inputs)
    if not recorder.layers:
        raise Problem(
            "no attention was seen in {model}: 0 calls of torch's scaled_dot_product_attention, nn.MultiheadAttention "
            "or attnviz.attend in this thread. Where it attends by other means, such as a kernel of its own, call "
            "attnviz.attend(q, k, v, mask) there, and every layer can be read",
            model=type(model).__name__,
        )
    trace = Trace(
        tuple(recorder.layers),
        find_logits(output, logits),
        select_ids_and_masks(inspect.signature(model.forward).bind_partial(*args, **inputs).arguments),
    )
    rows, _, last, _ = trace.layers[0].shape
    name = residual if isinstance(residual, str) else None
    return stream.add_residual(trace, torch.full((rows,), last - 1), name) if residual else trace


@contextmanager
def record_calls(model: nn.Module, recorder: "PlainRecorder | None" = None) -> Iterator[Recorder]:
    """Record this thread's attention calls of `model` inside the block; raises a Problem where one cannot be."""
    _require_watchable(model)
    recorder, watch = recorder or PlainRecorder(model), SoftmaxWatch()
    flex = "torch.nn.attention.flex_attention" in sys.modules  # which compiles itself where it is called
    with (
        disable_compile(model, always=flex),
        _track_running_module(model) as running_module,
        _FunctionMode(recorder, watch, running_module),
    ):
        yield recorder
    if watch.counts:
        raise Problem(
            "{model} computes attention by hand in a form that is not known: {count} times what a softmax gave was "
            "multiplied (in {first}) and it cannot be told which keys it weighs; {recorded} layers were seen. Call "
            "attnviz.attend(q, k, v, mask) or torch's scaled_dot_product_attention there, and every layer can be read",
            model=type(model).__name__,
            count=watch.counts.total(),
            first=MessageList([plain_name(name) or type(model).__name__ for name in list(watch.counts)[:3]]),
            recorded=len(recorder.layers),
        )


RunningModule = tuple[nn.Module, torch.Size | None]  #: the running module, and the shape of its input
BY_HAND = Message("the model computes this attention by hand; only the weights that it used are known")


class _FunctionMode(TorchFunctionMode):
    """Intercepts each torch function call of this thread while the model runs."""

    def __init__(
        self, recorder: "PlainRecorder", watch: SoftmaxWatch, running_module: Callable[[], RunningModule]
    ) -> None:
        super().__init__()
        self._recorder, self._watch, self._running_module = recorder, watch, running_module

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        module, input_shape = self._running_module()
        seen = parse_torch_call(func, args, kwargs, module)
        if seen is not None:
            call, replace_answer = seen
            layer = self._recorder.describe(module, call)
            changed = self._recorder.change(layer)
            answer = func(*args, **kwargs)
            if self._recorder.grad and (changed is not None or isinstance(answer, Tensor) or not call.dropout):
                changed = _attach_to_graph(layer, changed, answer)
            self._recorder.record_layer(layer if changed is None else changed, module)
            return answer if changed is None else replace_answer(changed, answer)
        result = func(*args, **kwargs)
        match = self._watch.observe_call(func, args, kwargs, result, self._recorder.name_of(module))
        if match is not None:
            self._recorder.record_weights(module, *match, input_shape)
        return result


def _attach_to_graph(layer: RecordedLayer, changed: RecordedLayer | None, answer: Any) -> RecordedLayer:
    """The layer with head outputs that are in the graph of the pass; the fused function's answer is one."""
    output = answer.reshape(*layer.shape[:3], -1) if changed is None and isinstance(answer, Tensor) else None
    used_layer = changed or layer
    return replace(used_layer, handed_on=require_gradient(used_layer.head_outputs() if output is None else output))


class PlainRecorder(Recorder):
    """Recorder for models without a config: stacks are told by the calls."""

    def record_weights(self, module: nn.Module, weights: Tensor, values: int, input_shape: torch.Size | None) -> None:
        """Record a layer by its weights (.., Q, K) only; `values` is the width of a value.

        `input_shape` is the shape of the module's input, whose last axis is shared out among heads.
        """
        folded = weights.dim() == 3 and (input_shape is None or weights.shape[0] != input_shape[0])
        if weights.dim() > 4 and getattr(module, "num_heads", None) != weights.shape[-3]:
            raise Problem(
                "{name} weighs values by hand in {count} axes, and it cannot be told which are its heads",
                name=self.name_of(module),
                count=weights.dim(),
            )
        weights = to_four_axes(weights, module) if folded or weights.dim() != 3 else weights[:, None]
        heads = weights.shape[1]
        if input_shape is not None and heads * weights.shape[3] == input_shape[-1] != heads * values:
            raise Problem(
                "{name} attends over channels, not over positions: there is no map of it", name=self.name_of(module)
            )
        square = 1 < weights.shape[2] == weights.shape[3]
        causal = square and not bool(weights.triu(1).any())
        call = AttentionCall(weights, weights.mT, weights.mT, None, None, causal, None, None, None, float("nan"), 0.0)
        empty: dict[str, Any] = dict.fromkeys(("q", "k", "v"))
        layer = replace(self.describe(module, call), **empty, causal=False, reported=weights.detach(), why=BY_HAND)
        self.change(layer)  # which refuses an edit of it
        self.layers.append(layer)

    def _stack_name(self, name: str, kind: AttentionKind, call: AttentionCall, module: nn.Module) -> StackName:
        """Stack by the module's name; else the decoder if no query sees a later key."""
        segments = name.split(".")
        if any(segment.startswith("decoder") for segment in segments):
            return "decoder"
        if any(segment.startswith("encoder") for segment in segments):
            return "encoder"
        allowed = call.allowed
        square = allowed is not None and 1 < allowed.shape[-1] == allowed.shape[-2]
        looks_back = call.causal or (square and allowed is not None and not bool(allowed.triu(1).any()))
        return "decoder" if kind == "cross" or looks_back else "encoder"


@contextmanager
def _track_running_module(model: nn.Module) -> Iterator[Callable[[], RunningModule]]:
    """Yield a function that returns the module of `model` that this thread is running."""
    stack: list[RunningModule] = [(model, None)]

    def push_module(module: nn.Module, args: tuple[Any, ...]) -> None:
        first = args[0] if args else None
        stack.append((module, first.shape if isinstance(first, Tensor) and first.dim() else None))

    def pop_module(*_: Any) -> None:
        if len(stack) > 1:
            stack.pop()

    enter, leave_here = this_thread_only(push_module), this_thread_only(pop_module)
    handles = (
        handle
        for module in model.modules()
        for handle in (
            module.register_forward_pre_hook(enter),
            module.register_forward_hook(leave_here, always_call=True),
        )
    )
    with attach_hooks(handles):
        yield lambda: stack[-1]


def _require_watchable(model: nn.Module) -> None:
    for name, module in model.named_modules():
        called = [str(node.target) for node in module.graph.nodes] if isinstance(module, torch.fx.GraphModule) else []
        # operations that no function mode sees
        if any(target.startswith("aten.") and ("attention" in target or "softmax" in target) for target in called):
            raise Problem(
                "{name} is an exported graph, which calls torch's inner operations in place of its attention "
                "functions; give the model that it was made from",
                name=name or type(model).__name__,
            )
        if isinstance(module, torch.jit.ScriptModule):
            raise Problem(
                "{name} is a traced (TorchScript) module, and what happens inside one cannot be seen; "
                "give the model that it was made from",
                name=name or type(model).__name__,
            )


def find_logits(output: Any, logits: Logits) -> Tensor | None:
    """Logits of an output, taken to be its first floating-point tensor; "last" takes the last position of (B, Q, V)."""
    answer = getattr(output, "logits", output)
    if isinstance(answer, dict):
        answer = answer.get("logits", next(iter(answer.values()), None))
    if isinstance(answer, tuple | list):
        answer = next((entry for entry in answer if isinstance(entry, Tensor)), None)
    if logits is None or not isinstance(answer, Tensor) or not answer.is_floating_point():
        return None
    return answer[:, -1] if logits == "last" and answer.dim() == 3 else answer
