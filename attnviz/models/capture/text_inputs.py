"""What a pass is given, brought into the form that its model takes: texts, a tokenizer's answer, ids; and its words."""

from __future__ import annotations

import inspect
import warnings
from collections import UserDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem, Several
from attnviz.models.capture.adapter import is_transformers
from attnviz.models.capture.attention_call import HARMLESS
from attnviz.models.capture.forward_pass import has_two_stacks, unwrapped
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import encode, label_of, read

OURS = ("logits", "grad", "residual", "tokenizer", "labels")  #: keywords of `capture` itself
PADDED_WITH = ("pad_token_id", "eos_token_id")  #: what a tokenizer calls the id that fills a shorter sentence


@dataclass(frozen=True)
class TokenNames:
    """What the tokens of a pass are called."""

    rows: tuple[tuple[str, ...], ...] = ()  #: of each sentence of the batch, as far as they are known
    tokenizer: Any = None  #: for ids that have none yet

    def on(self, trace: Trace) -> Trace:
        """The trace with the labels of its tokens: of one sentence, or of each of several."""
        rows, lengths = self.rows, {layer.shape[2] for layer in trace.layers}
        if self.tokenizer is not None:
            rows = self._of_ids(trace, lengths)
        if bad := next((row for row in rows if len(row) not in lengths), None):
            raise Problem("there are {given} labels for {count} positions", given=len(bad), count=max(lengths))
        return replace(trace, tokens=rows[0] if len(rows) == 1 else rows)

    def _of_ids(self, trace: Trace, lengths: set[int]) -> tuple[tuple[str, ...], ...]:
        """Labels of all ids that went through the model: the known ones, and those of what was padded or written."""
        given = (each for name, each in trace.inputs.items() if "mask" not in name and each.dim() == 2)
        ids = trace.inputs.get("input_ids", next(given, None))
        if ids is None or ids.shape[1] not in lengths or "decoder_input_ids" in trace.inputs:
            return ()
        known = [self.rows[place * len(self.rows) // len(ids)] if self.rows else () for place in range(len(ids))]
        pairs = zip(known, ids.tolist(), strict=True)
        return tuple((*names, *(label_of(self.tokenizer, each) for each in row[len(names) :])) for names, row in pairs)


def arguments_of(
    model: Any, args: tuple[Any, ...], inputs: dict[str, Any], reader: Any, labels: Any
) -> tuple[tuple[Any, ...], dict[str, Any], TokenNames]:
    """The arguments of a model or of its method, texts among them as ids; and the names of their tokens.

    `reader` is a tokenizer, or a loaded model that has one; None where no text can be read.
    """
    module = unwrapped(getattr(model, "__self__", model))
    called: Callable[..., Any] = model if inspect.isroutine(model) else module.forward
    theirs = is_transformers(module)
    if labels is not None and not _are_texts(labels):
        inputs, labels = inputs | {"labels": labels}, None  # a loss is asked for
    if args and (isinstance(args[0], UserDict) or (theirs and isinstance(args[0], dict))):
        args, inputs = args[1:], dict(args[0]) | inputs
    _must_take(called, module, inputs)
    rows: tuple[tuple[str, ...], ...] = ()
    texts = [args[0]] if args and isinstance(args[0], str) else list(args[0]) if args and _are_texts(args[0]) else []
    if texts and reader is not None:
        if len(args) > 1 or (has_two_stacks(module) and called == module.forward):
            name = type(module).__name__
            raise Problem("give one sentence; what {name} needs beside it goes in as token ids, by name", name=name)
        args, given, rows = _read_all(called, module, texts, reader)
        inputs = given | inputs
    elif texts and theirs:
        raise Problem("a sentence needs its tokenizer: give tokenizer=, or what attnviz.load gives, or token ids")
    elif theirs:
        args = tuple(_tensor("input_ids", each) for each in args)
        inputs = {name: _tensor(name, each) for name, each in inputs.items()}
    if labels is not None:
        return args, inputs, TokenNames((tuple(labels),) if isinstance(labels[0], str) else tuple(map(tuple, labels)))
    return args, inputs, TokenNames(rows, reader.tokenizer if isinstance(reader, LoadedModel) else reader)


def _are_texts(given: Any) -> bool:
    """Whether it is several strings, or several rows of them."""
    return isinstance(given, list | tuple) and bool(given) and all(isinstance(e, str) or _are_texts(e) for e in given)


def _must_take(called: Callable[..., Any], module: nn.Module, inputs: dict[str, Any]) -> None:
    """A Problem for a keyword that the model does not take, with the one that was meant if some name is close."""
    if isinstance(module, torch.jit.ScriptModule):
        return  # which has no signature to ask, and is refused later
    asked = [*inspect.signature(called).parameters.values()]
    if called != module.forward and is_transformers(module):
        asked += inspect.signature(module.forward).parameters.values()
    known = {each.name for each in asked} | {*getattr(getattr(module, "generation_config", None), "__dict__", ())}
    known -= {each.name for each in asked if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)}
    for name in inputs.keys() - known - HARMLESS:
        if close := get_close_matches(name, [*known, *OURS], 1, 0.8):
            raise Problem("{model} takes no {name}: {close} is close", model=_name(module), name=name, close=close[0])
        if not any(each.kind is each.VAR_KEYWORD for each in asked):
            names = Several([each.name for each in asked if each.name in known])
            raise Problem("{model} takes no {name}; it takes {names}", model=_name(module), name=name, names=names)


def _name(module: nn.Module) -> str:
    return type(module).__name__


def _tensor(name: str, given: Any) -> Any:
    """Token ids or a mask as a tensor, where they came as lists of numbers; everything else as it is."""
    if not name.endswith(("_ids", "_mask")) or not isinstance(given, list):
        return given
    rows = given if given and isinstance(given[0], list) else [given]
    if len({len(row) for row in rows}) > 1 or not all(isinstance(each, int) for row in rows for each in row):
        raise Problem(
            "{name}={given} must be numbers in rows of one length: a tokenizer makes them with padding=True",
            name=name,
            given=repr(given)[:60],
        )
    return torch.tensor(rows)


def _read_all(
    called: Callable[..., Any], module: nn.Module, texts: Collection[str], reader: Any
) -> tuple[tuple[Any, ...], dict[str, Any], tuple[tuple[str, ...], ...]]:
    """Texts as the arguments of a pass, shorter ones padded on the side that the tokenizer says; and their labels."""
    loaded = isinstance(reader, LoadedModel)
    tokenizer: Any = reader.tokenizer if loaded else reader
    made = [encode(reader, text) if loaded else read(tokenizer, text) for text in texts]
    for notice in (notice for each in made for notice in each.notices):
        warnings.warn(str(notice), stacklevel=5)  # where `capture` or `intervene` was called
    length, left = max(map(len, made)), getattr(tokenizer, "padding_side", "right") == "left"
    filled_with = next((n for name in PADDED_WITH if isinstance(n := getattr(tokenizer, name, None), int)), 0)
    device = next((each.device for each in module.parameters()), torch.device("cpu"))
    inputs = {}
    for name in made[0].inputs:
        value = filled_with if name == "input_ids" else 0
        short = [(each.inputs[name], length - len(each)) for each in made]
        rows = [nn.functional.pad(ids, (missing, 0) if left else (0, missing), value=value) for ids, missing in short]
        inputs[name] = torch.cat(rows).to(device)
    filling = (label_of(tokenizer, filled_with),) if left and length > min(map(len, made)) else ()
    labels = tuple((*(filling * (length - len(each))), *each.labels) for each in made)
    if is_transformers(module):
        if called == module.forward and left:
            inputs |= _positions(module, inputs["attention_mask"])
        return (), inputs, labels
    ids, taken = inputs.pop("input_ids"), inspect.signature(called).parameters
    if "attention_mask" not in taken and not bool(inputs["attention_mask"].all()):
        raise Problem("{model} takes no attention_mask: give sentences of one length", model=_name(module))
    return (ids,), {name: each for name, each in inputs.items() if name in taken}, labels


def _positions(module: nn.Module, mask: Tensor) -> dict[str, Tensor]:
    """Positions that count from each row's first real token, as `generate` gives them where padding stands in front.

    Models that find them out themselves, by the id of padding, are left to it.
    """
    own = any(getattr(each, "padding_idx", None) is not None for name, each in module.named_modules() if "pos" in name)
    if own or bool(mask.all()) or "position_ids" not in inspect.signature(module.forward).parameters:
        return {}
    return {"position_ids": (mask.cumsum(-1) - 1).clamp_min(0)}
