"""Fallback for families that cannot use a custom attention function: run their eager path and take its weights."""

from __future__ import annotations

import inspect
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnviz.base.message import Message, Problem
from attnviz.models.capture.adapter import switched
from attnviz.models.capture.compiled import uncompiled
from attnviz.models.capture.forward_pass import Logits, arguments, logits_of
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName
from attnviz.models.capture.trace import Trace

WHY = Message(
    "this family of models computes attention in its own way; only the weights that it reports itself are shown"
)


def eager_layers(model: nn.Module, logits: Logits, inputs: dict[str, Any]) -> Trace:
    """Record a pass with `output_attentions=True`: slower, and it needs memory for L x H x Q x K more numbers."""
    part, given = arguments(model, logits, inputs)
    with torch.no_grad(), uncompiled(model), switched(model, "eager"), _windows_watched(model) as handed_on:
        output = part(**given, **_ask_for_attentions(part))
    matrices = list(_matrices(output, ""))
    of_windows = len(handed_on) > len(matrices)
    found: list[RecordedLayer] = []
    counts: Counter[tuple[str, StackName, AttentionKind]] = Counter()
    for name, weights in handed_on if of_windows else matrices:
        stack, kind = _place(name, model)
        tower = "" if of_windows else name.rpartition(".")[0]
        index = counts[tower, stack, kind]
        counts[tower, stack, kind] += 1
        keys, queries = _padding(model, inputs, stack, kind, weights)
        scale = float("nan")
        found.append(
            RecordedLayer(
                stack,
                kind,
                index,
                name,
                scale,
                padding=keys,
                queries=queries,
                reported=weights.detach(),
                why=WHY,
                tower=tower,
            )
        )
    if not found:
        _explain(model, output)
    kept = {
        name: value for name, value in inputs.items() if isinstance(value, Tensor) and not value.is_floating_point()
    }
    return Trace(tuple(found), logits_of(output, logits, model, inputs), kept)


@contextmanager
def _windows_watched(model: nn.Module) -> Iterator[list[tuple[str, Tensor]]]:
    """The weights that each layer of windows (Swin v2) hands on inside the model, which reports one of each stage."""
    found: list[tuple[str, Tensor]] = []

    def watch(name: str, output: Any) -> None:
        if isinstance(output, tuple) and len(output) > 1 and isinstance(output[1], Tensor) and output[1].dim() == 4:
            found.append((name, output[1]))

    hooks = [
        module.register_forward_hook(lambda _module, _given, output, name=name: watch(name, output))
        for name, module in model.named_modules()
        if name.endswith(".attention.self") and hasattr(module, "window_size")
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def _explain(model: nn.Module, output: Any) -> None:
    """Raise the Problem that says why no attention weights were found."""
    fields = output.values() if isinstance(output, dict) else ()
    if any(isinstance(value, tuple) and value and all(entry is None for entry in value) for value in fields):
        raise Problem(
            '{model} did not return its attention weights; load it with attn_implementation="eager"',
            model=type(model).__name__,
        )
    raise Problem("{model} has no attention layers that can be read", model=type(model).__name__)


def _padding(
    model: nn.Module, inputs: dict[str, Any], stack: StackName, kind: AttentionKind, weights: Tensor
) -> tuple[Tensor | None, Tensor | None]:
    """Real keys (B, 1, 1, K) and, across two sentences, real queries (B, 1, Q), as far as the inputs tell."""
    two_stacks = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
    own = "decoder_attention_mask" if two_stacks and stack == "decoder" else "attention_mask"
    q_len, k_len = weights.shape[-2:]
    if kind == "self":
        return _real(inputs.get(own), k_len), None
    queries = _real(inputs.get(own), q_len)
    return _real(inputs.get("attention_mask"), k_len), None if queries is None else queries[:, 0]


def _real(mask: object, length: int) -> Tensor | None:
    """A mask (B, length) as (B, 1, 1, length); None where it hides nothing or is about something else."""
    if not isinstance(mask, Tensor) or mask.dim() != 2 or mask.shape[1] != length or bool(mask.all()):
        return None
    return mask.bool()[:, None, None, :]


def _ask_for_attentions(part: nn.Module) -> dict[str, bool]:
    """The keyword that requests attention weights, or nothing if the model does not accept it."""
    accepted = inspect.signature(part.forward).parameters.values()
    known = any(p.name == "output_attentions" or p.kind is p.VAR_KEYWORD for p in accepted)
    return {"output_attentions": True} if known else {}


def _matrices(output: Any, prefix: str) -> Iterator[tuple[str, Tensor]]:
    """Every attention matrix (B, H, Q, K) in an output and in outputs nested in it, each with the name of its field."""
    for name, value in output.items() if isinstance(output, dict) else ():
        if name.endswith("attentions") and isinstance(value, tuple | list):
            matrices = (entry for entry in value if isinstance(entry, Tensor) and entry.dim() == 4)
            yield from ((prefix + name, matrix) for matrix in matrices)
        else:
            yield from _matrices(value, f"{prefix}{name}.")


def _place(name: str, model: nn.Module) -> tuple[StackName, AttentionKind]:
    """Stack and kind of the layers in an output field such as "encoder_attentions" or "cross_attentions"."""
    if "cross" in name:
        return "decoder", "cross"
    if "encoder" in name or "decoder" in name:
        return ("decoder" if "decoder" in name else "encoder"), "self"
    architecture = type(model).__name__
    decodes = any(word in architecture for word in ("CausalLM", "LMHead"))
    return ("decoder" if decodes or getattr(getattr(model, "config", None), "is_decoder", False) else "encoder"), "self"


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
