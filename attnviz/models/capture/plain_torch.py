"""Record the attention of any torch model: every call of an attention function that torch or attnviz offers is seen.

A mode of torch's is told of each call of a torch function. What it knows as attention it records, with the dotted name
of the module that was running; all others it lets pass. A model that also computes attention in a way that is not
known is refused: see `SoftmaxWatch`.
"""

import inspect
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

from attnviz.base.message import Problem, Several
from attnviz.models.capture.attention_call import Call
from attnviz.models.capture.forward_pass import Logits, hooked, ids_and_masks, in_this_thread, plain_name, uncompiled
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName
from attnviz.models.capture.recorder import Change, Recorder, in_graph
from attnviz.models.capture.residual_watch import ResidualWatch
from attnviz.models.capture.torch_call import understand
from attnviz.models.capture.trace import Trace


def record_plain(
    model: nn.Module,
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool,
    residual: bool,
    change: Change,
) -> Trace:
    """One pass of `model`, with every attention call recorded; refuses where one could not be.

    A layer of which `change` makes another one hands on what that other one would.
    """
    stream = ResidualWatch(model)
    with (
        torch.set_grad_enabled(grad),
        stream.watching(residual),
        recording_plain(model, _Recorder(model, grad, residual, change)) as recorder,
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
        logits_in(output, logits),
        ids_and_masks(inspect.signature(model.forward).bind_partial(*args, **inputs).arguments),
    )
    rows, _, last, _ = trace.layers[0].shape
    return stream.added(trace, torch.full((rows,), last - 1)) if residual else trace


@contextmanager
def recording_plain(model: nn.Module, recorder: "_Recorder | None" = None) -> Iterator[Recorder]:
    """Inside the block, attention calls of `model` in this thread are recorded; refused where one could not be."""
    _must_be_watchable(model)
    recorder, watch = recorder or _Recorder(model), SoftmaxWatch()
    with uncompiled(model), _running(model) as place, _Mode(recorder, watch, place):
        yield recorder
    if watch.counts:
        raise Problem(
            "{model} computes attention by hand: {count} softmax calls outside torch's attention functions were seen "
            "(in {first}), {recorded} calls of those functions. Call attnviz.attend(q, k, v, mask) or "
            "torch's scaled_dot_product_attention there, and every layer can be read",
            model=type(model).__name__,
            count=watch.counts.total(),
            first=Several([plain_name(name) or type(model).__name__ for name in list(watch.counts)[:3]]),
            recorded=len(recorder.layers),
        )


class _Mode(TorchFunctionMode):
    """Sees each call of a torch function while the model runs, in this thread only."""

    def __init__(self, recorder: "_Recorder", watch: "SoftmaxWatch", place: Callable[[], nn.Module]) -> None:
        super().__init__()
        self._recorder, self._watch, self._place = recorder, watch, place

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        module = self._place()
        seen = understand(func, args, kwargs, module)
        if seen is not None:
            call, answer_of = seen
            layer = self._recorder.describe(module, call)
            changed = self._recorder.change(layer)
            answer = func(*args, **kwargs)
            if self._recorder.grad and (changed is not None or isinstance(answer, Tensor) or not call.dropout):
                changed = _in_graph(layer, changed, answer)
            self._recorder.keep(layer if changed is None else changed, module)
            return answer if changed is None else answer_of(changed, answer)
        result = func(*args, **kwargs)
        self._watch.saw(func, args, kwargs, result, self._recorder.name_of(module))
        return result


def _in_graph(layer: RecordedLayer, changed: RecordedLayer | None, answer: Any) -> RecordedLayer:
    """The layer with what its heads hand on, which the model goes on with; the fused function answers just that."""
    own = answer.reshape(*layer.shape[:3], -1) if changed is None and isinstance(answer, Tensor) else None
    made = changed or layer
    return replace(made, handed_on=in_graph(made.head_outputs() if own is None else own))


class _Recorder(Recorder):
    """Names stacks by what a call shows, since there is no config to ask."""

    def _stack(self, name: str, kind: AttentionKind, call: Call, module: nn.Module) -> StackName:
        """The decoder where no query looks ahead, or where the module is called so."""
        parts = name.split(".")
        if any(part.startswith("decoder") for part in parts):
            return "decoder"
        if any(part.startswith("encoder") for part in parts):
            return "encoder"
        allowed = call.allowed
        square = allowed is not None and 1 < allowed.shape[-1] == allowed.shape[-2]
        looks_back = call.causal or (square and allowed is not None and not bool(allowed.triu(1).any()))
        return "decoder" if kind == "cross" or looks_back else "encoder"


@contextmanager
def _running(model: nn.Module) -> Iterator[Callable[[], nn.Module]]:
    """A function that says which module of `model` this thread is in."""
    stack = [model]

    def leave(*_: Any) -> None:
        if len(stack) > 1:
            stack.pop()

    enter, leave_here = in_this_thread(lambda module, *_: stack.append(module)), in_this_thread(leave)
    handles = (
        handle
        for module in model.modules()
        for handle in (
            module.register_forward_pre_hook(enter),
            module.register_forward_hook(leave_here, always_call=True),
        )
    )
    with hooked(handles):
        yield lambda: stack[-1]


def _must_be_watchable(model: nn.Module) -> None:
    for name, module in model.named_modules():
        called = [str(node.target) for node in module.graph.nodes] if isinstance(module, torch.fx.GraphModule) else []
        # operations that no function mode sees
        if any(each.startswith("aten.") and ("attention" in each or "softmax" in each) for each in called):
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


def logits_in(output: Any, logits: Logits) -> Tensor | None:
    """The model's answer, taken to be its first tensor of real numbers: with "last", the last position of (B, Q, V)."""
    answer = getattr(output, "logits", output)
    if isinstance(answer, dict):
        answer = answer.get("logits", next(iter(answer.values()), None))
    if isinstance(answer, tuple | list):
        answer = next((entry for entry in answer if isinstance(entry, Tensor)), None)
    if logits is None or not isinstance(answer, Tensor) or not answer.is_floating_point():
        return None
    return answer[:, -1] if logits == "last" and answer.dim() == 3 else answer


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
        self.counts: Counter[str] = Counter()  #: by the dotted name of the module
        self._followed = WeakTensorKeyDictionary()

    def saw(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, place: str) -> None:
        """Take note of one call of a torch function that no known attention made."""
        if func in _SOFTMAX:
            axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
            if isinstance(result, Tensor) and result.dim() >= 3 and axis in (-1, result.dim() - 1):
                self._followed[result] = None
            return
        given = next((tensor for tensor in _tensors((args, kwargs)) if tensor in self._followed), None)
        if given is None:
            return
        if func in _PRODUCTS:
            self.counts[place] += 1
            self._followed.pop(given, None)
        elif isinstance(result, Tensor) and result.numel() == given.numel():
            self._followed[result] = None  # after dropout, in another number type, in another shape


def _tensors(given: Any) -> Iterator[Tensor]:
    if isinstance(given, Tensor):
        yield given
    elif isinstance(given, tuple | list | dict):
        for entry in given.values() if isinstance(given, dict) else given:
            yield from _tensors(entry)
