"""Record a model's attention: one forward pass that keeps Q, K and V, from which any head can be computed later.

Or run it with its attention changed, to see how later layers and the output respond.

>>> trace = capture(model, input_ids=ids)
>>> trace.layers[0].weights(heads=2)              # what the model used, (B, 1, Q, K)
>>> trace.layers[0].weights(heads=2, scale=None)  # the same head had the scores not been scaled
>>> after = intervene(model, [Edit(layers=3, heads=(0, 5), silence=True)], input_ids=ids)
>>> after.logits - trace.logits
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from attnviz.base.message import Problem
from attnviz.models.capture.adapter import is_transformers, switched, takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.attention_call import listening
from attnviz.models.capture.edit import Edit, changing_streams
from attnviz.models.capture.edited_layer import EditedPass
from attnviz.models.capture.forward_pass import (
    Logits,
    arguments,
    ids_and_masks,
    last_positions,
    logits_of,
    uncompiled,
    unwrapped,
)
from attnviz.models.capture.generated import record_generation
from attnviz.models.capture.plain_torch import record_plain
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.reported_layers import reported_layers
from attnviz.models.capture.residual_watch import ResidualWatch
from attnviz.models.capture.text_inputs import arguments_of
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import NEW_TOKENS, LoadedModel


def capture(
    model: nn.Module | LoadedModel | Callable[..., Any],
    *args: Any,
    logits: Logits = "last",
    grad: bool = False,
    residual: bool = False,
    tokenizer: Any = None,
    labels: Any = None,
    **inputs: Any,
) -> Trace:
    """One pass of any model, on its own fast path, with every attention layer recorded.

    `model` is a torch module, what `load` gives, or a method of a model (see below). `args` and `inputs` are the
    arguments of the model's forward, or what a tokenizer answers. A sentence, or several in a list, may stand in their
    place where `load` gave the model or `tokenizer` reads them; shorter ones are padded on the side that it says.
    `trace.tokens` are then the tokens' labels (of several sentences, a tuple of each), which `labels` names else.

    `logits` "last" keeps the logits of the last real position of each row, "all" keeps those of every position, None
    skips the output layer. With `grad`, logits, q, k, v and what the heads hand on, `layer.head_outputs()`, stay in the
    graph of the pass, so that gradients with respect to them can be asked for.

    With `residual`, the residual stream and copies of the output projections are kept: `trace.residual[i]`,
    `layer.head_outputs(projected=True)` and `trace.logit_attribution(token)` need them.

    Families of transformers that cannot use a custom attention function run their eager path instead, and their
    layers have `exact=False`. In any other torch model, calls of torch's fused attention, FlexAttention,
    `nn.MultiheadAttention` and `attnviz.attend` are recorded; of attention that is written out as a softmax and a
    product the weights alone, with `exact=False`; what is computed otherwise is refused. Dropout follows the model's
    mode.

    A method, such as `capture(model.generate, ids, max_new_tokens=20)`, is run with all its passes joined into one
    trace: its queries are all positions that went through the model, `trace.inputs["sequences"]` is what was written,
    and `logits` "all" are those of every step, (B, steps, V).
    """
    must_hold()
    return _passes(model, (), args, logits, inputs, grad, residual, tokenizer, labels)


def intervene(
    model: nn.Module | LoadedModel | Callable[..., Any],
    edits: Edit | Sequence[Edit],
    *args: Any,
    logits: Logits = "last",
    grad: bool = False,
    residual: bool = False,
    tokenizer: Any = None,
    labels: Any = None,
    **inputs: Any,
) -> Trace:
    """The same pass as `capture`, with `edits` applied; the trace records the changed attention.

    Works on whatever `capture` reads exactly: models of transformers, and any torch model whose attention goes through
    torch's own functions or `attnviz.attend`. With `residual`, the stream is that of the changed pass.

    `intervene(model.generate, edits, ids, max_new_tokens=20)` writes a text under the edits, each new token of it, as
    full passes over the same text would without a cache. `torch.manual_seed` before it repeats what is sampled. See
    `Edit` on which positions it names then; a mask or weights that look ahead of what is written are refused.
    """
    every = (edits,) if isinstance(edits, Edit) else tuple(edits) if isinstance(edits, Sequence) else (None,)
    if not all(isinstance(each, Edit) for each in every):
        raise Problem(
            "{given} is not an edit: intervene takes the model, one Edit or a list of them, then what the model takes",
            given=type(edits).__name__,
        )
    must_hold()
    return _passes(model, every, args, logits, inputs, grad, residual, tokenizer, labels)


def _passes(
    model: Any,
    edits: tuple[Any, ...],
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool,
    residual: bool,
    tokenizer: Any,
    labels: Any,
) -> Trace:
    """One pass of a module, by the way that it can be read in, with its edits; or all passes of a method."""
    reader = tokenizer
    owner = getattr(model, "__self__", None) if inspect.isroutine(model) else model
    if isinstance(owner, LoadedModel):
        reader = owner if tokenizer is None else tokenizer
        if owner is not model:
            model, inputs = owner.model.generate, {"max_new_tokens": NEW_TOKENS} | inputs
    args, inputs, names = arguments_of(model, args, inputs, reader, labels)
    if inspect.isroutine(model):
        if grad or residual:
            raise Problem(
                "grad and residual are of one pass: capture the model itself over what was generated, "
                'trace.inputs["sequences"]'
            )
        return names.on(record_generation(model, args, logits, inputs, edits))
    if logits not in ("last", "all", None):
        raise Problem('logits={logits} must be "last", "all" or None', logits=repr(logits))
    model = unwrapped(model)
    changes = EditedPass(model, tuple(edit for edit in edits if not edit.of_stream))
    with changing_streams(model, [edit for edit in edits if edit.of_stream]):
        trace = _read(model, args, logits, inputs, grad, residual, changes)
    changes.must_have_met_all()
    return replace(names.on(trace), tokenizer=getattr(reader, "tokenizer", reader))


def _read(
    model: nn.Module,
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool,
    residual: bool,
    changes: EditedPass,
) -> Trace:
    """One pass of a module, by the way that it can be read in."""
    if takes_interface(model):
        trace, _ = record(
            model, Recorder(model, grad, residual, changes.changed), logits, _by_name(model, args, inputs)
        )
        if trace.layers or changes.edits:
            return trace
    if not is_transformers(model):
        return record_plain(model, args, logits, inputs, grad, residual, changes.changed)
    if changes.edits:
        raise Problem(
            "{model} computes attention in its own way; it can be shown but not changed. A forward hook of torch can "
            "change what one of its modules hands on, and capture then records the changed pass",
            model=type(model).__name__,
        )
    if residual:
        raise Problem(
            "{model} gives its weights only, and not its residual stream; leave residual out",
            model=type(model).__name__,
        )
    return reported_layers(model, logits, _by_name(model, args, inputs))


def _by_name(model: nn.Module, args: tuple[Any, ...], inputs: dict[str, Any]) -> dict[str, Any]:
    """All arguments by the names that the model's forward gives them."""
    return inputs if not args else dict(inspect.signature(model.forward).bind_partial(*args).arguments) | inputs


def record(model: nn.Module, recorder: Recorder, logits: Logits, inputs: dict[str, Any]) -> tuple[Trace, Any]:
    """Run the pass with `recorder` answering its attention calls; returns the trace and the model's output."""
    part, given = arguments(model, logits, inputs)
    watch = ResidualWatch(model)
    with (
        torch.set_grad_enabled(recorder.grad),
        uncompiled(model),
        switched(model),
        listening(recorder),
        watch.watching(recorder.residual),
    ):
        output = part(**given)
    trace = Trace(tuple(recorder.layers), logits_of(output, logits, model, inputs), ids_and_masks(inputs))
    if not recorder.residual:
        return trace, output
    return watch.added(trace, last_positions(inputs, model, trace.layers[0].shape[2] if trace.layers else 0)), output
