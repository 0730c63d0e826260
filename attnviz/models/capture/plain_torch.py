"""Record the attention of any torch model: every call of an attention function that torch or attnviz offers is seen.

A mode of torch's is told of each call of a torch function. What it knows as attention it records, with the dotted name
of the module that was running; all others it lets pass. A model that also computes attention in a way that is not
known is refused: see `softmax_watch`.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnviz.base.message import Problem, Several
from attnviz.models.capture.attention_call import Call
from attnviz.models.capture.compiled import plain_name, uncompiled
from attnviz.models.capture.eager_fallback import SoftmaxWatch
from attnviz.models.capture.forward_pass import Logits, at_last
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.residual_watch import ResidualWatch
from attnviz.models.capture.torch_call import understand
from attnviz.models.capture.trace import Trace

Change = Callable[[RecordedLayer], RecordedLayer | None]  #: what a layer is to be instead; None: itself


def record_plain(
    model: nn.Module,
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool = False,
    residual: bool = False,
    change: Change | None = None,
) -> Trace:
    """One pass of `model`, with every attention call recorded; refuses where one could not be.

    A layer of which `change` makes another one hands on what that other one would.
    """
    _must_be_watchable(model)
    recorder, watch, stream = _Recorder(model, grad, residual, change), SoftmaxWatch(), ResidualWatch(model)
    watching = stream.watching() if residual else nullcontext()
    graph = torch.set_grad_enabled(grad)
    with graph, uncompiled(model), watching, _running(model) as place, _Mode(recorder, watch, place):
        output = model(*args, **inputs)
    _must_be_whole(model, recorder, watch)
    layers, found, kept = tuple(recorder.layers), logits_in(output, logits), _kept(model, args, inputs)
    if not residual:
        return Trace(layers, found, kept)
    at = torch.full((layers[0].shape[0],), layers[0].shape[2] - 1)
    return Trace(layers, found, kept, stream.residual(layers, at_last(found, at), at), at)


@contextmanager
def recording_plain(model: nn.Module) -> Iterator[Recorder]:
    """Inside the block, attention calls of `model` in this thread are recorded; refused where one could not be."""
    _must_be_watchable(model)
    recorder, watch = _Recorder(model, False, False, None), SoftmaxWatch()
    with uncompiled(model), _running(model) as place, _Mode(recorder, watch, place):
        yield recorder
    _must_have_seen_all(model, watch, len(recorder.layers))


class _Mode(TorchFunctionMode):
    """Sees each call of a torch function while the model runs, in this thread only."""

    def __init__(self, recorder: _Recorder, watch: SoftmaxWatch, place: Callable[[], nn.Module]) -> None:
        super().__init__()
        self._recorder, self._watch, self._place = recorder, watch, place

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        module = self._place()
        seen = understand(func, args, kwargs, module)
        if seen is not None:
            changed = self._recorder.take(module, seen.call, seen.cross)
            answer = func(*args, **kwargs)
            return answer if changed is None else seen.answer_of(changed, answer)
        result = func(*args, **kwargs)
        self._watch.saw(func, args, kwargs, result, self._recorder.name_of(module))
        return result


class _Recorder(Recorder):
    """Names stacks and kinds by what a call shows, since there is no config to ask."""

    def __init__(self, model: nn.Module, keeps_graph: bool, keeps_projections: bool, change: Change | None) -> None:
        super().__init__(model, keeps_graph, keeps_projections)
        self._change = change
        self._cross: bool | None = None

    def take(self, module: nn.Module, call: Call, cross: bool | None) -> RecordedLayer | None:
        """Record one call; the layer that takes its place, if one does."""
        self._cross = cross
        layer = self.describe(module, call)
        changed = None if self._change is None else self._change(layer)
        kept = layer if changed is None else changed
        self.layers.append(self.with_norms(kept, module, values_are_known=kept.v is layer.v))
        return changed

    def name_of(self, module: nn.Module) -> str:
        return self._names.get(id(module), type(module).__name__)

    def _kind(self, name: str, module: nn.Module, call: Call) -> AttentionKind:
        if self._cross is not None:
            return "cross" if self._cross else "self"
        return "cross" if super()._kind(name, module, call) == "cross" else "self"

    def _stack(self, name: str, kind: AttentionKind, call: Call, module: nn.Module) -> StackName:
        """The decoder where no query looks ahead, or where the module is called so."""
        parts = name.split(".")
        if any(part.startswith("decoder") for part in parts):
            return "decoder"
        if any(part.startswith("encoder") for part in parts):
            return "encoder"
        return "decoder" if kind == "cross" or call.causal or _looks_back_only(call.allowed) else "encoder"


def _looks_back_only(allowed: Tensor | None) -> bool:
    """Whether a mask hides every later key."""
    if allowed is None or allowed.shape[-1] < 2 or allowed.shape[-2] != allowed.shape[-1]:
        return False
    return not bool(allowed.triu(1).any())


@contextmanager
def _running(model: nn.Module) -> Iterator[Callable[[], nn.Module]]:
    """A function that says which module of `model` this thread is in."""
    owner, stack = threading.get_ident(), [model]

    def enter(module: nn.Module, *_: Any) -> None:
        if threading.get_ident() == owner:
            stack.append(module)

    def leave(module: nn.Module, *_: Any) -> None:
        if threading.get_ident() == owner and len(stack) > 1:
            stack.pop()

    hooks: list[Any] = []
    try:
        for module in model.modules():
            hooks.append(module.register_forward_pre_hook(enter))
            hooks.append(module.register_forward_hook(leave, always_call=True))
        yield lambda: stack[-1]
    finally:
        for hook in hooks:
            hook.remove()


def _must_be_watchable(model: nn.Module) -> None:
    for name, module in model.named_modules():
        if isinstance(module, torch.fx.GraphModule) and any(map(_inner_attention, module.graph.nodes)):
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


def _inner_attention(node: torch.fx.Node) -> bool:
    """Whether an exported graph attends here, by an operation that no function mode sees."""
    called = str(node.target)
    return called.startswith("aten.") and ("attention" in called or "softmax" in called)


def _must_have_seen_all(model: nn.Module, watch: SoftmaxWatch, recorded: int) -> None:
    if watch.found:
        first = Several([plain_name(name) or type(model).__name__ for name in list(watch.found)[:3]])
        raise Problem(
            "{model} computes attention by hand: {count} softmax calls outside torch's attention functions were seen "
            "(in {first}), {recorded} calls of those functions. Call attnviz.attend(q, k, v, mask) or "
            "torch's scaled_dot_product_attention there, and every layer can be read",
            model=type(model).__name__,
            count=watch.found.total(),
            first=first,
            recorded=recorded,
        )


def _must_be_whole(model: nn.Module, recorder: _Recorder, watch: SoftmaxWatch) -> None:
    """Refuse a pass in which attention was computed, or may have been, that is not recorded."""
    _must_have_seen_all(model, watch, len(recorder.layers))
    if not recorder.layers:
        raise Problem(
            "no attention was seen in {model}: 0 calls of torch's scaled_dot_product_attention, nn.MultiheadAttention "
            "or attnviz.attend in this thread. Where it attends by other means, such as a kernel of its own, call "
            "attnviz.attend(q, k, v, mask) there, and every layer can be read",
            model=type(model).__name__,
        )


def logits_in(output: Any, logits: Logits) -> Tensor | None:
    """The model's answer, taken to be its first tensor of real numbers: with "last", the last position of (B, Q, V)."""
    if logits not in ("last", "all", None):
        raise Problem('logits={logits} must be "last", "all" or None', logits=repr(logits))
    found = getattr(output, "logits", output)
    if isinstance(found, dict):
        found = found.get("logits", next(iter(found.values()), None))
    if isinstance(found, tuple | list):
        found = next((entry for entry in found if isinstance(entry, Tensor)), None)
    if logits is None or not isinstance(found, Tensor) or not found.is_floating_point():
        return None
    return found[:, -1] if logits == "last" and found.dim() == 3 else found


def _kept(model: nn.Module, args: tuple[Any, ...], inputs: dict[str, Any]) -> dict[str, Tensor]:
    """Ids and masks that were given, by the name of the argument."""
    bound = inspect.signature(model.forward).bind_partial(*args, **inputs).arguments
    return {name: value for name, value in bound.items() if isinstance(value, Tensor) and not value.is_floating_point()}
