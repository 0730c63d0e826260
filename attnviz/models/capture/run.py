"""Record a model's attention: one forward pass that keeps Q, K and V, from which any head can be computed later.

>>> trace = capture(model, input_ids=ids)
>>> trace.layers[0].weights(heads=2)              # what the model used, (B, 1, Q, K)
>>> trace.layers[0].weights(heads=2, scale=None)  # the same head had the scores not been scaled
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture.adapter import adopt, choose_again, is_transformers, switched, takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.compiled import uncompiled, unwrapped
from attnviz.models.capture.eager_fallback import eager_layers
from attnviz.models.capture.forward_pass import Logits, arguments, at_last, last_positions, logits_of, with_ids
from attnviz.models.capture.generated import must_be_a_model, record_generation
from attnviz.models.capture.plain_torch import record_plain
from attnviz.models.capture.recorder import Recorder, listening
from attnviz.models.capture.residual_watch import ResidualWatch
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import LoadedModel

__all__ = ["adopt", "capture", "choose_again"]


def capture(
    model: nn.Module | LoadedModel | Callable[..., Any],
    *args: Any,
    logits: Logits = "last",
    grad: bool = False,
    residual: bool = False,
    **inputs: Any,
) -> Trace:
    """One pass of any model, on its own fast path, with every attention layer recorded.

    `model` is a torch module, what `load` gives, or a method of a model (see below). `args` and `inputs` are the
    arguments of the model's forward; what `load` gives also takes a sentence in their place. `logits` "last" keeps
    the logits of the last real position of each row, "all" keeps those of every position, None skips the output
    layer. With `grad`, logits, q, k and v stay in the graph of the pass, so that gradients with respect to them can
    be asked for.

    With `residual`, the residual stream and copies of the output projections are kept: `trace.residual[i]`,
    `layer.head_outputs(projected=True)` and `trace.logit_attribution(token)` need them.

    Families of transformers that cannot use a custom attention function run their eager path instead, and their
    layers have `exact=False`. In any other torch model, calls of torch's fused attention, `nn.MultiheadAttention` and
    `attnviz.attend` are recorded; one that computes attention otherwise is refused. Dropout follows the model's mode.

    A method, such as `capture(model.generate, ids, max_new_tokens=20)`, is run with all its passes joined into one
    trace: its queries are all positions that went through the model, `trace.inputs["sequences"]` is what was written,
    and `logits` "all" are those of every step, (B, steps, V).
    """
    must_hold()
    if inspect.isroutine(model):
        if grad or residual:
            raise Problem(
                "grad and residual are of one pass: capture the model itself over what was generated, "
                'trace.inputs["sequences"]'
            )
        return record_generation(model, args, logits, inputs)
    args, inputs, tokens = with_ids(model, args, inputs)
    return replace(_captured(must_be_a_model(unwrapped(model)), args, logits, inputs, grad, residual), tokens=tokens)


def _captured(
    model: nn.Module, args: tuple[Any, ...], logits: Logits, inputs: dict[str, Any], grad: bool, residual: bool
) -> Trace:
    """One pass of a module, by the way that it can be read in."""
    if takes_interface(model):
        trace, _ = record(model, Recorder(model, grad, residual), logits, by_name(model, args, inputs), grad, residual)
        if trace.layers:
            return trace
    if not is_transformers(model):
        return record_plain(model, args, logits, inputs, grad, residual)
    if residual:
        raise Problem(
            "{model} gives its weights only, and not its residual stream; leave residual out",
            model=type(model).__name__,
        )
    return eager_layers(model, logits, by_name(model, args, inputs))


def by_name(model: nn.Module, args: tuple[Any, ...], inputs: dict[str, Any]) -> dict[str, Any]:
    """All arguments by the names that the model's forward gives them."""
    if not args:
        return inputs
    return dict(inspect.signature(model.forward).bind_partial(*args).arguments) | inputs


def record(
    model: nn.Module,
    recorder: Recorder,
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool = False,
    residual: bool = False,
) -> tuple[Trace, Any]:
    """Run the pass with `recorder` answering its attention calls; returns the trace and the model's output."""
    part, given = arguments(model, logits, inputs)
    watch = ResidualWatch(model)
    watching = watch.watching() if residual else nullcontext()
    with torch.set_grad_enabled(grad), uncompiled(model), switched(model), listening(recorder), watching:
        output = part(**given)
    kept = {
        name: value for name, value in inputs.items() if isinstance(value, Tensor) and not value.is_floating_point()
    }
    layers, found = tuple(recorder.layers), logits_of(output, logits, model, inputs)
    if not residual:
        return Trace(layers, found, kept), output
    length = layers[0].shape[2] if layers else 0
    at = last_positions(inputs, model, length)
    stream = watch.residual(layers, at_last(found, at), at)
    return Trace(layers, found, kept, stream, at), output
