"""All the passes of a model's own `generate`, joined: one trace of the text that was written."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture.adapter import is_transformers, switched, takes_interface
from attnviz.models.capture.compiled import uncompiled
from attnviz.models.capture.forward_pass import Logits
from attnviz.models.capture.joined_layer import JoinedLayer
from attnviz.models.capture.plain_torch import logits_in, recording_plain
from attnviz.models.capture.recorded_layer import LayerPlace
from attnviz.models.capture.recorder import Recorder, listening
from attnviz.models.capture.trace import Trace


def must_be_a_model(given: Any) -> nn.Module:
    """What was given, if it is a model; a Problem otherwise."""
    if not isinstance(given, nn.Module):
        raise Problem("{given} is neither a model nor a method of one", given=repr(given)[:60])
    return given


def record_generation(
    method: Callable[..., Any], args: tuple[Any, ...], logits: Logits, inputs: dict[str, Any]
) -> Trace:
    """Every pass that `method` of a model makes, joined into one trace.

    Its queries are all positions that went through the model. `logits` "last" are those of the last pass, "all"
    those of every pass at its last position, (B, passes, V).
    """
    model = getattr(method, "__self__", None)
    if not isinstance(model, nn.Module):
        model = must_be_a_model(method)
    if takes_interface(model):
        recorder = Recorder(model)
        with uncompiled(model), switched(model), listening(recorder), _steps(model, recorder) as steps:
            written = method(*args, **inputs)
    elif is_transformers(model):
        raise Problem(
            "{model} computes attention in its own way; its steps cannot be joined. Capture one pass over its text",
            model=type(model).__name__,
        )
    else:
        with recording_plain(model) as recorder, _steps(model, recorder) as steps:
            written = method(*args, **inputs)
    steps.end()
    return steps.trace(written, logits, _by_name(method, args, inputs))


class _Steps:
    """The layers of all passes so far, and what each pass answered."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._layers: dict[LayerPlace, JoinedLayer] = {}
        self._answers: list[Tensor] = []  # (B, V) of each pass

    def end(self) -> None:
        """Take up the layers of the pass that has ended, or of the encoder that ran before the first one."""
        for layer in self._recorder.layers:
            known = self._layers.get(layer.place)
            if known is None:
                self._layers[layer.place] = JoinedLayer(layer)
            else:
                known.add(layer)
            if layer.norms is not None:
                self._recorder.earlier_norms[layer.place] = layer.norms
        self._recorder.begin()

    def note(self, output: Any) -> None:
        found = logits_in(output, "last")
        if found is not None and found.dim() == 2:
            self._answers.append(found.detach())

    def trace(self, written: Any, logits: Logits, inputs: dict[str, Any]) -> Trace:
        layers = tuple(joined.layer() for joined in self._layers.values())
        if not layers:
            raise Problem("no attention was seen while the model wrote")
        found = None
        if logits is not None and self._answers:
            found = self._answers[-1] if logits == "last" else torch.stack(self._answers, 1)
        return Trace(layers, found, _texts(layers, written, inputs))


@contextmanager
def _steps(model: nn.Module, recorder: Recorder) -> Iterator[_Steps]:
    """Inside the block, each pass of the model in this thread is a step."""
    steps, owner = _Steps(recorder), threading.get_ident()

    def before(*_: Any) -> None:
        if threading.get_ident() == owner:
            steps.end()

    def after(_: nn.Module, __: Any, output: Any) -> None:
        if threading.get_ident() == owner:
            steps.note(output)

    hooks = [model.register_forward_pre_hook(before), model.register_forward_hook(after)]
    try:
        with torch.no_grad():
            yield steps
    finally:
        for hook in hooks:
            hook.remove()


def _texts(layers: tuple[Any, ...], written: Any, inputs: dict[str, Any]) -> dict[str, Tensor]:
    """What was given, with all ids that went through the model in place of the first ones; `sequences` are all."""
    kept = {name: each for name, each in inputs.items() if isinstance(each, Tensor) and not each.is_floating_point()}
    sequences = getattr(written, "sequences", written)
    if not isinstance(sequences, Tensor) or sequences.dim() != 2:
        return kept
    kept["sequences"] = sequences
    decoder = next((layer for layer in layers if layer.stack == "decoder" and layer.kind == "self"), layers[-1])
    length = decoder.shape[2]
    if sequences.shape[1] < length:
        return kept  # the model was given vectors, and answers with what came after them
    two = any(layer.kind == "cross" for layer in layers)
    kept["decoder_input_ids" if two else "input_ids"] = sequences[:, :length]
    mask = kept.get("attention_mask")
    if not two and mask is not None and mask.dim() == 2 and mask.shape[1] < length:
        more = mask.new_ones(len(mask), length - mask.shape[1])
        kept["attention_mask"] = torch.cat([mask, more], 1)
    return kept


def _by_name(method: Callable[..., Any], args: tuple[Any, ...], inputs: dict[str, Any]) -> dict[str, Any]:
    bound = inspect.signature(method).bind_partial(*args, **inputs)
    more = [value for value in bound.arguments.values() if isinstance(value, dict)]
    return {name: each for held in (bound.arguments, *more) for name, each in held.items()}
