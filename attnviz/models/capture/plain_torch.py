"""Record the attention of any torch model that calls an attention function of torch or attnviz.

A TorchFunctionMode sees each call of a torch function. Known attention functions are recorded with the dotted name of
the running module. Attention that a model writes out itself is recorded too, or its weights alone, and refused where
these cannot be identified: see `written_attention`.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

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
from attnviz.models.capture.torch_call import parse_torch_call, replace_outputs
from attnviz.models.capture.trace import Trace
from attnviz.models.capture.written_attention import SoftmaxWatch, WrittenProduct


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
def record_calls(model: nn.Module, recorder: Recorder | None = None) -> Iterator[Recorder]:
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
    if isinstance(recorder, PlainRecorder) and recorder.exact_only and watch.open:
        raise NotExact("{name} computes attention in its own way", name=type(model).__name__)
    if watch.counts:
        raise NotExact(
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

    def __init__(self, recorder: Recorder, watch: SoftmaxWatch, running_module: Callable[[], RunningModule]) -> None:
        super().__init__()
        self._recorder, self._watch, self._running_module = recorder, watch, running_module

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        module, input_shape = self._running_module()
        seen = parse_torch_call(func, args, kwargs, module)
        if seen is not None:
            return self._record_call(module, *seen, partial(func, *args, **kwargs))
        result = func(*args, **kwargs)
        product = self._watch.observe_call(func, args, kwargs, result, self._recorder.name_of(module))
        if product is None:
            return result
        call = product.as_call(module, input_shape)
        if call is not None:
            return self._record_call(module, call, replace_outputs, lambda: result)
        self._recorder.record_weights(module, product, input_shape)
        return result

    def _record_call(
        self, module: nn.Module, call: AttentionCall, replace_answer: Callable[..., Any], run: Callable[[], Any]
    ) -> Any:
        """Record a call that `run` computes; what it answers, or what a changed layer answers in its place."""
        layer = self._recorder.describe(module, call)
        changed = self._recorder.change(layer)
        answer = run()
        if self._recorder.grad and (changed is not None or isinstance(answer, Tensor) or not call.dropout):
            changed = _attach_to_graph(layer, changed, answer)
        self._recorder.record_layer(layer if changed is None else changed, module)
        return answer if changed is None else replace_answer(changed, answer)


def _attach_to_graph(layer: RecordedLayer, changed: RecordedLayer | None, answer: Any) -> RecordedLayer:
    """The layer with head outputs that are in the graph of the pass; the fused function's answer is one."""
    output = answer.reshape(*layer.shape[:3], -1) if changed is None and isinstance(answer, Tensor) else None
    used_layer = changed or layer
    return replace(used_layer, handed_on=require_gradient(used_layer.head_outputs() if output is None else output))


class NotExact(Problem):
    """A layer of a model of transformers gives its weights only."""


class PlainRecorder(Recorder):
    """Recorder for models without a config: stacks are told by the calls."""

    exact_only = False  #: whether a layer that gives its weights only ends the pass: transformers reports those itself

    def record_weights(self, module: nn.Module, product: WrittenProduct, input_shape: torch.Size | None) -> None:
        """Record a layer by its weights only.

        `input_shape` is the shape of the module's input, whose last axis is shared out among heads.
        """
        if self.exact_only:
            raise NotExact("{name} computes attention in its own way", name=self.name_of(module))
        weights = product.weights
        if weights.dim() > 4 and getattr(module, "num_heads", None) != weights.shape[-3]:
            raise Problem(
                "{name} weighs values by hand in {count} axes, and it cannot be told which are its heads",
                name=self.name_of(module),
                count=weights.dim(),
            )
        weights = product.to_four_axes(weights, module, input_shape)
        heads = weights.shape[1]
        if input_shape is not None and heads * weights.shape[3] == input_shape[-1] != heads * product.width:
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
