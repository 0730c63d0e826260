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
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Message, Problem
from attnviz.models.capture.adapter import is_transformers, switched, takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.attention_call import listening
from attnviz.models.capture.edit import Edit, changing_streams
from attnviz.models.capture.edited_layer import EditedPass
from attnviz.models.capture.forward_pass import (
    Logits,
    above,
    arguments,
    has_two_stacks,
    hooked,
    ids_and_masks,
    last_positions,
    logits_of,
    uncompiled,
    unwrapped,
    with_ids,
)
from attnviz.models.capture.generated import record_generation
from attnviz.models.capture.plain_torch import record_plain
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.residual_watch import ResidualWatch
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import LoadedModel


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
    return _one_pass(model, (), args, logits, inputs, grad, residual)


def intervene(
    model: nn.Module | LoadedModel,
    edits: Edit | Sequence[Edit],
    *args: Any,
    logits: Logits = "last",
    grad: bool = False,
    residual: bool = False,
    **inputs: Any,
) -> Trace:
    """The same pass as `capture`, with `edits` applied; the trace records the changed attention.

    Works on whatever `capture` reads exactly: models of transformers, and any torch model whose attention goes through
    torch's own functions or `attnviz.attend`. With `residual`, the stream is that of the changed pass.
    """
    every = (edits,) if isinstance(edits, Edit) else tuple(edits) if isinstance(edits, Sequence) else (None,)
    if not all(isinstance(each, Edit) for each in every):
        raise Problem(
            "{given} is not an edit: intervene takes the model, one Edit or a list of them, then what the model takes",
            given=type(edits).__name__,
        )
    must_hold()
    return _one_pass(model, every, args, logits, inputs, grad, residual)


def _one_pass(
    model: Any,
    edits: tuple[Any, ...],
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool,
    residual: bool,
) -> Trace:
    """One pass of a module, by the way that it can be read in, with its edits."""
    if logits not in ("last", "all", None):
        raise Problem('logits={logits} must be "last", "all" or None', logits=repr(logits))
    args, inputs, tokens = with_ids(model, args, inputs)
    tokenizer = model.tokenizer if isinstance(model, LoadedModel) else None
    model = unwrapped(model)
    changes = EditedPass(model, tuple(edit for edit in edits if not edit.of_stream))
    with changing_streams(model, [edit for edit in edits if edit.of_stream]):
        trace = _read(model, args, logits, inputs, grad, residual, changes)
    changes.must_have_met_all()
    return replace(trace, tokens=tokens, tokenizer=tokenizer)


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
    return eager_layers(model, logits, _by_name(model, args, inputs))


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


# Families that cannot use a custom attention function: their eager path is run, and its weights are taken.
WHY = Message(
    "this family of models computes attention in its own way; only the weights that it reports itself are shown"
)


def eager_layers(model: nn.Module, logits: Logits, inputs: dict[str, Any]) -> Trace:
    """Record a pass with `output_attentions=True`: slower, and it needs memory for L x H x Q x K more numbers."""
    part, given = arguments(model, logits, inputs)
    handed_on: list[tuple[str, Tensor]] = []
    hooks = (
        module.register_forward_hook(partial(_note_weights, handed_on, name))
        for name, module in model.named_modules()
        if name.endswith(".attention.self") and hasattr(module, "window_size")
    )
    if any(
        each.name == "output_attentions" or each.kind is each.VAR_KEYWORD
        for each in inspect.signature(part.forward).parameters.values()
    ):
        given["output_attentions"] = True
    with torch.no_grad(), uncompiled(model), switched(model, "eager"), hooked(hooks):
        output = part(**given)
    matrices = list(_matrices(output, ""))
    of_windows = len(handed_on) > len(matrices)  # layers of windows (Swin v2): the model reports one of each stage
    layers: list[RecordedLayer] = []
    counts: Counter[tuple[str, StackName, AttentionKind]] = Counter()
    for name, weights in handed_on if of_windows else matrices:
        stack, kind = _place(name, model)
        tower = "" if of_windows else above(name)
        keys, queries = _padding(model, inputs, stack, kind, weights)
        layers.append(
            RecordedLayer(
                stack,
                kind,
                counts[tower, stack, kind],
                name,
                scale=float("nan"),
                padding=keys,
                queries=queries,
                reported=weights.detach(),
                why=WHY,
                tower=tower,
            )
        )
        counts[tower, stack, kind] += 1
    if not layers:
        _explain(model, output)
    return Trace(tuple(layers), logits_of(output, logits, model, inputs), ids_and_masks(inputs))


def _note_weights(noted: list[tuple[str, Tensor]], name: str, _module: nn.Module, _given: Any, output: Any) -> None:
    """A hook that keeps the weights (B, H, Q, K) which a layer of windows hands on inside the model."""
    if isinstance(output, tuple) and len(output) > 1 and isinstance(output[1], Tensor) and output[1].dim() == 4:
        noted.append((name, output[1]))


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
    own = "decoder_attention_mask" if has_two_stacks(model) and stack == "decoder" else "attention_mask"
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


def _matrices(output: Any, prefix: str) -> Iterator[tuple[str, Tensor]]:
    """Every attention matrix (B, H, Q, K) in an output and in outputs nested in it, each with the name of its field."""
    for name, value in output.items() if isinstance(output, dict) else ():
        if name.endswith("attentions") and isinstance(value, tuple | list):
            yield from ((prefix + name, each) for each in value if isinstance(each, Tensor) and each.dim() == 4)
        else:
            yield from _matrices(value, f"{prefix}{name}.")


def _place(name: str, model: nn.Module) -> tuple[StackName, AttentionKind]:
    """Stack and kind of the layers in an output field such as "encoder_attentions" or "cross_attentions"."""
    if "cross" in name:
        return "decoder", "cross"
    if "encoder" in name or "decoder" in name:
        return ("decoder" if "decoder" in name else "encoder"), "self"
    decodes = any(word in type(model).__name__ for word in ("CausalLM", "LMHead"))
    return ("decoder" if decodes or getattr(getattr(model, "config", None), "is_decoder", False) else "encoder"), "self"
