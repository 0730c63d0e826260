"""`capture` records a model's attention in one forward pass; `intervene` runs the pass with edits.

The trace holds q, k and v, from which any head can be computed later.

>>> trace = capture(model, input_ids=ids)
>>> trace.layers[0].weights(heads=2)              # what the model used, (B, 1, Q, K)
>>> trace.layers[0].weights(heads=2, scale=None)  # the same head had the scores not been scaled
>>> after = intervene(model, [Edit(layers=3, heads=(0, 5), silence=True)], input_ids=ids)
>>> after.logits - trace.logits
"""

from __future__ import annotations

import inspect
from collections import UserDict
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import MessageList, Problem, require_one_of
from attnviz.models.capture.adapter import is_transformers, switch_implementation, uses_interface
from attnviz.models.capture.adapter_check import require_adapter
from attnviz.models.capture.attention_call import HARMLESS, listen_to_calls
from attnviz.models.capture.edit import Edit, edit_streams
from attnviz.models.capture.edited_layer import EditedPass
from attnviz.models.capture.forward_pass import (
    Logits,
    disable_compile,
    has_two_stacks,
    input_device,
    last_positions,
    pass_arguments,
    select_ids_and_masks,
    select_logits,
    unwrap_model,
)
from attnviz.models.capture.generated import record_generation
from attnviz.models.capture.plain_torch import NotExact, PlainRecorder, record_calls, record_plain
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.reported_layers import record_reported_layers
from attnviz.models.capture.residual_watch import ResidualWatch
from attnviz.models.capture.stream_parts import ModelPass
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import NEW_TOKENS, LoadedModel, max_positions, require_positions
from attnviz.models.tokens import encode_whole, label_of, read


def capture(
    model: nn.Module | LoadedModel | Callable[..., Any],
    *args: Any,
    logits: Logits = "last",
    grad: bool = False,
    residual: bool = False,
    output_layer: str | None = None,
    tokenizer: Any = None,
    labels: Any = None,
    truncate: bool = False,
    **inputs: Any,
) -> Trace:
    """One pass of any model, on its own fast path, with every attention layer recorded.

    `model` is a torch module, what `load` gives, or a method of a model (see below). `args` and `inputs` are the
    arguments of the model's forward, or what a tokenizer answers. A sentence, or several in a list, may stand in their
    place where `load` gave the model or `tokenizer` reads them; shorter ones are padded on the side that it says.
    `trace.tokens` are then the tokens' labels (of several sentences, a tuple of each), which `labels` names else.
    A text longer than the model reads is a Problem; with `truncate` it is cut at the model's own positions.

    `logits` "last" keeps the logits of the last real position of each row, "all" keeps those of every position, None
    skips the output layer. With `grad`, logits and `layer.head_outputs()` stay in the graph of the pass, for gradients
    with respect to them, and so do q, k and v, unless they are read from calls of torch (GPT-J, Bloom, MPT, Falcon).

    With `residual`, the residual stream and copies of the output projections are kept: `trace.residual[i]`,
    `layer.head_outputs(projected=True)` and `trace.logit_attribution(token)` need them. Of an encoder-decoder it is the
    decoder's stream, and `trace.residual.encoder` the other. Logits may be of tokens, or of the classes of a text or a
    picture; `output_layer` names the module that makes them, where it cannot be told.

    In any other torch model, calls of torch's fused attention, FlexAttention, `nn.MultiheadAttention` and
    `attnviz.attend` are recorded. So is attention that is written out, such as GPT-J's: a product of queries and keys,
    what is added to it, a softmax, and its product with values. Where more than that happens the weights alone are
    recorded, with `exact=False`; what is computed otherwise is refused. Dropout follows the model's mode.

    A method, such as `capture(model.generate, ids, max_new_tokens=20)`, is run with all its passes joined into one
    trace: its queries are all positions that went through the model, `trace.inputs["sequences"]` is what was written,
    and `logits` "all" are those of every step, (B, steps, V).
    """
    return _run_passes(
        model, (), args, logits, inputs, grad, _stream_request(residual, output_layer), tokenizer, labels, truncate
    )


def intervene(
    model: nn.Module | LoadedModel | Callable[..., Any],
    edits: Edit | Sequence[Edit],
    *args: Any,
    logits: Logits = "last",
    grad: bool = False,
    residual: bool = False,
    output_layer: str | None = None,
    tokenizer: Any = None,
    labels: Any = None,
    truncate: bool = False,
    **inputs: Any,
) -> Trace:
    """The same pass as `capture`, with `edits` applied; the trace records the changed attention.

    Works on whatever `capture` reads exactly: models of transformers, and any torch model whose attention goes through
    torch's own functions or `attnviz.attend`. With `residual`, the stream is that of the changed pass.

    `intervene(model.generate, edits, ids, max_new_tokens=20)` generates each new token under the edits. The result is
    that of full passes over the same text without a cache. `torch.manual_seed` before it repeats the sampling. `Edit`
    says which positions an edit names then; a mask or weights that look ahead of the generated text are refused.
    """
    every = (edits,) if isinstance(edits, Edit) else tuple(edits) if isinstance(edits, Sequence) else (None,)
    if not all(isinstance(edit, Edit) for edit in every):
        raise Problem(
            "{given} is not an edit: intervene takes the model, one Edit or a list of them, then what the model takes",
            given=type(edits).__name__,
        )
    stream = _stream_request(residual, output_layer)
    return _run_passes(model, every, args, logits, inputs, grad, stream, tokenizer, labels, truncate)


def _stream_request(residual: bool, output_layer: str | None) -> bool | str:
    """Whether the stream is recorded; the name of the output layer, where it is given, says so too."""
    return output_layer if residual and output_layer else residual


def _run_passes(
    model: Any,
    edits: tuple[Any, ...],
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool,
    residual: bool | str,
    tokenizer: Any,
    labels: Any,
    truncate: bool,
) -> Trace:
    """Run one pass of a module with its edits, or all passes of a method."""
    require_adapter()
    reader = tokenizer
    owner = getattr(model, "__self__", None) if inspect.isroutine(model) else model
    if isinstance(owner, LoadedModel):
        reader = owner if tokenizer is None else tokenizer
        if owner is not model:
            model, inputs = owner.model.generate, {"max_new_tokens": NEW_TOKENS} | inputs
    args, inputs, names = text_arguments(model, args, inputs, reader, labels, truncate)
    if inspect.isroutine(model):
        if grad or residual:
            raise Problem(
                "grad and residual are of one pass: capture the model itself over what was generated, "
                'trace.inputs["sequences"]'
            )
        return names.label_trace(record_generation(model, args, logits, inputs, edits))
    require_one_of("logits", logits, ("last", "all", None))
    model = unwrap_model(model)
    changes = EditedPass(model, tuple(edit for edit in edits if not edit.of_stream))
    streams = [edit for edit in edits if edit.of_stream]
    with edit_streams(model, streams):
        trace = _run_module(model, args, logits, inputs, grad, residual, changes, once=bool(streams))
    changes.require_all_applied()
    if trace.model_pass is not None:

        def rerun(layer: str | None, head: int | None) -> Trace:
            more = () if layer is None else (Edit(layers=layer, heads=head or 0, silence=True),)
            return _run_passes(model, (*edits, *more), args, None, inputs, False, False, None, None, False)

        trace = replace(trace, model_pass=replace(trace.model_pass, rerun=rerun))
    return replace(names.label_trace(trace), tokenizer=getattr(reader, "tokenizer", reader))


def _run_module(
    model: nn.Module,
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool,
    residual: bool | str,
    changes: EditedPass,
    once: bool,
) -> Trace:
    """Run one pass of a module with the recorder that fits it; a second one where it may run more than `once`."""
    if uses_interface(model):
        trace, _ = record_pass(
            model, Recorder(model, grad, residual, changes.edit_layer), logits, _bind_arguments(model, args, inputs)
        )
        if trace.layers:
            return trace
        if changes.edits or once:
            raise _cannot_change(model)
    if is_transformers(model) and not inputs.get("output_attentions"):
        plain, bound = PlainRecorder(model, grad, residual, changes.edit_layer), _bind_arguments(model, args, inputs)
        plain.exact_only = True
        with suppress(NotExact):
            trace, _ = record_pass(model, plain, logits, bound, partial(record_calls, model))
            if trace.layers:
                return trace
    if not is_transformers(model):
        return record_plain(model, args, logits, inputs, grad, residual, changes.edit_layer)
    if changes.edits:
        raise _cannot_change(model)
    if residual:
        raise Problem(
            "{model} gives its weights only, and not its residual stream; leave residual out",
            model=type(model).__name__,
        )
    return record_reported_layers(model, logits, _bind_arguments(model, args, inputs))


def _cannot_change(model: nn.Module) -> Problem:
    return Problem(
        "{model} computes attention in its own way; it can be shown but not changed. A forward hook of torch can "
        "change the output of one of its modules, and capture then records the changed pass",
        model=type(model).__name__,
    )


def _bind_arguments(model: nn.Module, args: tuple[Any, ...], inputs: dict[str, Any]) -> dict[str, Any]:
    """All arguments by the parameter names of the model's forward."""
    try:
        return inputs if not args else dict(inspect.signature(model.forward).bind_partial(*args).arguments) | inputs
    except TypeError as error:
        raise Problem(
            "{model} does not take {count} inputs: {error}", model=_class_name(model), count=len(args), error=str(error)
        ) from error


def record_pass(
    model: nn.Module,
    recorder: Recorder,
    logits: Logits,
    inputs: dict[str, Any],
    listen: Callable[[Any], AbstractContextManager[Any]] = listen_to_calls,
) -> tuple[Trace, Any]:
    """Run the pass with `recorder` answering its attention calls: the trace and the model's output."""
    backbone, arguments = pass_arguments(model, logits, inputs)
    watch = ResidualWatch(model)
    with (
        torch.set_grad_enabled(recorder.grad),
        disable_compile(model),
        switch_implementation(model) if listen is listen_to_calls else nullcontext(),
        listen(recorder),
        watch.watch_pass(bool(recorder.residual)),
    ):
        output = backbone(**arguments)
    trace = Trace(tuple(recorder.layers), select_logits(output, logits, model, inputs), select_ids_and_masks(inputs))
    if not recorder.residual:
        return trace, output
    last = last_positions(inputs, model, trace.layers[-1].shape[2] if trace.layers else 0)
    if trace.layers and len(last) != trace.layers[0].shape[0]:  # pictures, which are no row of ids
        last = last.expand(trace.layers[0].shape[0])
    trace = watch.add_residual(trace, last, recorder.output_layer)
    return replace(trace, model_pass=ModelPass(model, watch.calls, watch.find_starts(), listen=listen)), output


# Arguments of a pass in the form that its model takes, from texts, a tokenizer's output or ids; and token labels.
OURS = ("logits", "grad", "residual", "tokenizer", "labels", "truncate")  #: keywords of `capture` itself
PADDED_WITH = ("pad_token_id", "eos_token_id")  #: what a tokenizer calls the id that fills a shorter sentence


@dataclass(frozen=True)
class TokenNames:
    """Labels of a pass's tokens."""

    rows: tuple[tuple[str, ...], ...] = ()  #: of each sentence of the batch, as far as they are known
    tokenizer: Any = None  #: for ids that have none yet

    def label_trace(self, trace: Trace) -> Trace:
        """The trace with the labels of its tokens: a tuple of strings, or one such tuple for each sentence."""
        rows, lengths = self.rows, {layer.shape[2] for layer in trace.layers}
        if self.tokenizer is not None:
            rows = self._label_ids(trace, lengths)
        if bad := next((row for row in rows if len(row) not in lengths), None):
            raise Problem("there are {given} labels for {count} positions", given=len(bad), count=max(lengths))
        return replace(trace, tokens=rows[0] if len(rows) == 1 else rows)

    def _label_ids(self, trace: Trace, lengths: set[int]) -> tuple[tuple[str, ...], ...]:
        """Labels of all ids that went through the model, with padding and generated tokens."""
        candidates = (value for name, value in trace.inputs.items() if "mask" not in name and value.dim() == 2)
        ids = trace.inputs.get("input_ids", next(candidates, None))
        if ids is None or ids.shape[1] not in lengths or "decoder_input_ids" in trace.inputs:
            return ()
        known = [self.rows[row * len(self.rows) // len(ids)] if self.rows else () for row in range(len(ids))]
        pairs = zip(known, ids.tolist(), strict=True)
        return tuple(
            (*names, *(label_of(self.tokenizer, token) for token in row[len(names) :])) for names, row in pairs
        )


def text_arguments(
    model: Any, args: tuple[Any, ...], inputs: dict[str, Any], reader: Any, labels: Any, truncate: bool = False
) -> tuple[tuple[Any, ...], dict[str, Any], TokenNames]:
    """Arguments of a model or its method with texts encoded as ids, and the labels of their tokens.

    `reader` is a tokenizer, or a loaded model that has one; None where no text can be read.
    """
    module = unwrap_model(getattr(model, "__self__", model))
    called: Callable[..., Any] = model if inspect.isroutine(model) else module.forward
    theirs = is_transformers(module)
    if labels is not None and not _are_texts(labels):
        inputs, labels = inputs | {"labels": labels}, None  # a loss is asked for
    if args and (isinstance(args[0], UserDict) or (theirs and isinstance(args[0], dict))):
        args, inputs = args[1:], dict(args[0]) | inputs
    _require_parameters(called, module, inputs)
    rows: tuple[tuple[str, ...], ...] = ()
    texts = [args[0]] if args and isinstance(args[0], str) else list(args[0]) if args and _are_texts(args[0]) else []
    if texts and reader is not None:
        if len(args) > 1 or (has_two_stacks(module) and called == module.forward):
            name = type(module).__name__
            raise Problem("give one sentence; what {name} needs beside it goes in as token ids, by name", name=name)
        args, read_inputs, rows = _encode_texts(called, module, texts, reader, truncate)
        inputs = read_inputs | inputs
    elif texts and theirs:
        raise Problem("a sentence needs its tokenizer: give tokenizer=, or what attnviz.load gives, or token ids")
    elif theirs:
        if not args and not inputs:
            raise Problem("{model} was given no input: a sentence or token ids", model=_class_name(module))
        parameters = [str(module.main_input_name), *list(inspect.signature(called).parameters)[1:]]
        args = tuple(
            _to_tensor(name, value) for name, value in zip_longest(parameters[: len(args)], args, fillvalue="")
        )
        inputs = {name: _to_tensor(name, value) for name, value in inputs.items()}
        _require_known_ids(module, args[0] if args else inputs.get("input_ids"))
    if labels is not None:
        return args, inputs, TokenNames((tuple(labels),) if isinstance(labels[0], str) else tuple(map(tuple, labels)))
    return args, inputs, TokenNames(rows, reader.tokenizer if isinstance(reader, LoadedModel) else reader)


def _are_texts(value: Any) -> bool:
    """Whether `value` is a list of strings, or of rows of strings."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(e, str) or _are_texts(e) for e in value)


def _require_parameters(called: Callable[..., Any], module: nn.Module, inputs: dict[str, Any]) -> None:
    """Raise a Problem for a keyword that the model does not take; it names a similar one."""
    if isinstance(module, torch.jit.ScriptModule):
        return  # which has no signature to ask, and is refused later
    parameters = [*inspect.signature(called).parameters.values()]
    if called != module.forward and is_transformers(module):
        parameters += inspect.signature(module.forward).parameters.values()
    known = {parameter.name for parameter in parameters} | {
        *getattr(getattr(module, "generation_config", None), "__dict__", ())
    }
    known -= {
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }
    for name in inputs.keys() - known - HARMLESS:
        if close := get_close_matches(name, [*known, *OURS], 1, 0.8):
            raise Problem(
                "{model} takes no {name}: {close} is close", model=_class_name(module), name=name, close=close[0]
            )
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            names = MessageList([parameter.name for parameter in parameters if parameter.name in known])
            raise Problem(
                "{model} takes no {name}; it takes {names}", model=_class_name(module), name=name, names=names
            )


def _class_name(module: nn.Module) -> str:
    return type(module).__name__


def _to_tensor(name: str, value: Any) -> Any:
    """Lists of token ids or of a mask, and arrays, as a tensor; everything else unchanged."""
    if hasattr(value, "__array__") and not isinstance(value, Tensor):
        value = torch.as_tensor(value)
    ids = name.endswith("_ids")
    floats = isinstance(value, Tensor) and value.is_floating_point()
    if not (ids or name.endswith("_mask")) or value is None or (isinstance(value, Tensor) and not (ids and floats)):
        return value
    rows = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    if (
        not all(isinstance(row, list) for row in rows)
        or len({len(row) for row in rows}) > 1
        or not all(isinstance(number, int) for row in rows for number in row)
    ):
        raise Problem(
            "{name}={given} must be numbers in rows of one length: a tokenizer makes them with padding=True",
            name=name,
            given=repr(value)[:60],
        )
    return torch.tensor(rows)


def _require_known_ids(module: Any, ids: Any) -> None:
    """Raise a Problem for token ids outside the vocabulary of a model that reads text only."""
    config = getattr(module, "config", None)
    if config is None or config is not config.get_text_config() or module.main_input_name != "input_ids":
        return
    table = None
    with suppress(NotImplementedError):  # Canine has several
        table = module.get_input_embeddings()
    if not isinstance(table, nn.Embedding) or not isinstance(ids, Tensor) or not ids.numel():
        return
    for extreme in (int(ids.min()), int(ids.max())):
        if not 0 <= extreme < table.num_embeddings:
            raise Problem(
                "token id {token} is not in the vocabulary: {model} knows 0 to {last}",
                token=extreme,
                model=_class_name(module),
                last=table.num_embeddings - 1,
            )


def _encode_texts(
    called: Callable[..., Any], module: nn.Module, texts: Collection[str], reader: Any, truncate: bool
) -> tuple[tuple[Any, ...], dict[str, Any], tuple[tuple[str, ...], ...]]:
    """Encode texts as arguments of a pass, padded on the tokenizer's side, with their labels."""
    loaded = isinstance(reader, LoadedModel)
    tokenizer: Any = reader.tokenizer if loaded else reader
    positions = max_positions(module, tokenizer)
    encodings = [
        encode_whole(reader, text, truncate) if loaded else read(tokenizer, text, positions if truncate else None)
        for text in texts
    ]
    length, left = max(map(len, encodings)), getattr(tokenizer, "padding_side", "right") == "left"
    require_positions(_class_name(module), length, positions)
    filled_with = next((n for name in PADDED_WITH if isinstance(n := getattr(tokenizer, name, None), int)), 0)
    device = input_device(module)
    inputs = {}
    for name in encodings[0].inputs:
        value = filled_with if name == "input_ids" else 0
        short = [(encoding.inputs[name], length - len(encoding)) for encoding in encodings]
        rows = [nn.functional.pad(ids, (missing, 0) if left else (0, missing), value=value) for ids, missing in short]
        inputs[name] = torch.cat(rows).to(device)
    filling = (label_of(tokenizer, filled_with),) if left and length > min(map(len, encodings)) else ()
    labels = tuple((*(filling * (length - len(encoding))), *encoding.labels) for encoding in encodings)
    if is_transformers(module):
        if called == module.forward and left:
            inputs |= _padded_positions(module, inputs["attention_mask"])
        return (), inputs, labels
    ids, taken = inputs.pop("input_ids"), inspect.signature(called).parameters
    if "attention_mask" not in taken and not bool(inputs["attention_mask"].all()):
        raise Problem("{model} takes no attention_mask: give sentences of one length", model=_class_name(module))
    return (ids,), {name: tensor for name, tensor in inputs.items() if name in taken}, labels


def _padded_positions(module: nn.Module, mask: Tensor) -> dict[str, Tensor]:
    """`position_ids` that count from each row's first real token, as `generate` passes them with left padding.

    Empty for models that compute positions themselves from the padding id.
    """
    counts_itself = any(
        getattr(submodule, "padding_idx", None) is not None
        for name, submodule in module.named_modules()
        if "pos" in name
    )
    if counts_itself or bool(mask.all()) or "position_ids" not in inspect.signature(module.forward).parameters:
        return {}
    return {"position_ids": (mask.cumsum(-1) - 1).clamp_min(0)}
