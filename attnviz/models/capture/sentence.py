"""A sentence given in place of token ids: read by the tokenizer of a loaded model, with a label for each token."""

from __future__ import annotations

import warnings
from typing import Any

from attnviz.core.message import Problem
from attnviz.models.capture.adapter import is_transformers
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import encode


def with_ids(
    model: Any, args: tuple[Any, ...], inputs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], tuple[str, ...]]:
    """The arguments of the pass, a sentence among them as its ids; and the labels of its tokens, or none."""
    if not args or not isinstance(args[0], str):
        return args, inputs, ()
    if not isinstance(model, LoadedModel):
        if is_transformers(model):
            raise Problem("a sentence needs its tokenizer: give what attnviz.load gives, or token ids in its place")
        return args, inputs, ()  # a model of one's own may take sentences
    if len(args) > 1 or model.entry.kind == "encoder-decoder":
        raise Problem("give one sentence; what {name} needs beside it goes in as token ids, by name", name=model.name)
    tokens = encode(model, args[0])
    for notice in tokens.notices:
        warnings.warn(str(notice), stacklevel=3)
    return (), tokens.inputs | inputs, tokens.labels
