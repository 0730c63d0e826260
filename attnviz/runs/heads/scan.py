"""Run a model over many sentences and score every head against patterns, one batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.message import Problem, Several
from attnviz.core import measures
from attnviz.models.capture import RecordedLayer, Trace, capture, few_heads, of_heads
from attnviz.models.catalogue import LoadedModel
from attnviz.runs.heads.batches import Batch, inputs_of, module_of, parts_of
from attnviz.runs.heads.head_scores import GrowingScores, HeadPositions, HeadScores

ScoredRows = Literal["with targets", "all"]
TOKENS_AT_ONCE = 4096  #: so many positions of a batch are recorded at once


def scan(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    patterns: Sequence[HeadPattern] = ("previous_token", "induction", "duplicate_token"),
    tokenizer: Any = None,
    rows: ScoredRows = "with targets",
) -> Iterator[HeadScores]:
    """The scores so far after every batch; the last one is complete, and stopping keeps what is done.

    `batches` are sentences, files of one sentence a line, token ids (T,) or (B, T), or a model's inputs as a
    dictionary; or one of these alone. A sentence's score is the mean over its rows in which the pattern has a key to
    look at; with `rows` "all", over all rows, where a row without one counts as 0: as TransformerLens' `detect_head`
    counts.
    """
    wanted = checked(patterns)
    if rows not in ("with targets", "all"):
        raise Problem('rows={rows} must be "with targets" or "all"', rows=repr(rows))
    growing = GrowingScores()
    for inputs in inputs_of(model, batches, tokenizer):
        for part in parts_of(inputs, TOKENS_AT_ONCE):
            growing.add(*_of_batch(module_of(model), part, wanted, rows))
            yield growing.so_far()
    growing.so_far()  # a Problem where there was no sentence


def _of_batch(
    model: nn.Module, inputs: dict[str, Any], patterns: dict[str, HeadPattern], rows: ScoredRows
) -> tuple[HeadPositions, tuple[str, ...], dict[str, np.ndarray]]:
    """The heads' places and layers, and (B, N) for each pattern."""
    trace = capture(model, logits=None, **inputs)
    layers = [(number, layer) for number, layer in enumerate(trace.layers) if layer.kind == "self"]
    places = tuple((number, head) for number, layer in layers for head in range(layer.n_heads))
    names = tuple(layer.name for _, layer in layers for _ in range(layer.n_heads))
    ids = _ids(trace, layers)
    scores = {
        name: torch.cat([_scored(layer, pattern, ids, rows) for _, layer in layers], 1).double().cpu().numpy()
        for name, pattern in patterns.items()
    }
    return places, names, scores


def _scored(layer: RecordedLayer, pattern: HeadPattern, ids: Tensor, rows: ScoredRows) -> Tensor:
    """One number for each sentence and head, (B, H)."""
    parts = []
    for heads in few_heads(layer):
        keys = None if layer.padding is None else of_heads(layer.padding, heads)[..., 0, :]  # (B, 1, K)
        on = mass(pattern, layer.weights(heads), ids, keys)  # (B, h, Q)
        real = layer.real_queries  # (B, 1, Q) or None
        parts.append(measures.over_rows(on.nan_to_num(0.0) if rows == "all" else on, real))
    return torch.cat(parts, 1)


def _ids(trace: Trace, layers: list[tuple[int, RecordedLayer]]) -> Tensor:
    """Token ids (B, K), or running numbers where the model was given none."""
    if not layers:
        raise Problem("the model has no self-attention to look at")
    b, _, _, k_len = layers[0][1].shape
    given = (each for each in trace.inputs.values() if tuple(each.shape) == (b, k_len) and each.dtype == torch.long)
    return next(given, torch.arange(k_len).expand(b, -1))


#: token ids of one sentence, (T,) -> boolean (T, T): the keys that a head of this kind looks at from each query
Marks = Callable[[Tensor], Tensor]
HeadPattern = str | Marks

#: name -> weight on the pattern, (B, H, Q), given weights (B, H, Q, K), ids (B, K) and which keys are real (B, 1, K)
NAMED: dict[str, Callable[[Tensor, Tensor, Tensor | None], Tensor]] = {
    "previous_token": lambda weights, ids, keys: measures.previous_token_mass(weights, keys),
    "same_token": lambda weights, ids, keys: measures.same_token_mass(weights, keys),
    "next_token": lambda weights, ids, keys: measures.next_token_mass(weights, keys),
    "first_token": lambda weights, ids, keys: measures.first_token_mass(weights, keys),
    "duplicate_token": measures.duplicate_token_score,
    "induction": measures.induction_score,
}


def name_of(pattern: HeadPattern) -> str:
    """The name under which a pattern's scores are kept: a function's own name."""
    return pattern if isinstance(pattern, str) else getattr(pattern, "__name__", type(pattern).__name__)


def checked(patterns: Sequence[HeadPattern]) -> dict[str, HeadPattern]:
    """The patterns by name; a Problem for a name that is not known or comes twice, and for none at all."""
    if isinstance(patterns, str):
        patterns = (patterns,)
    by_name: dict[str, HeadPattern] = {}
    for pattern in patterns:
        name = name_of(pattern)
        if isinstance(pattern, str) and pattern not in NAMED:
            raise Problem("pattern={name} is not known; known are: {known}", name=pattern, known=Several(NAMED))
        if not isinstance(pattern, str) and not callable(pattern):
            raise Problem("pattern={pattern} must be a name or a function of the token ids", pattern=repr(pattern))
        if name in by_name:
            raise Problem("two patterns are called {name}", name=name)
        by_name[name] = pattern
    if not by_name:
        raise Problem("patterns is empty: name at least one of {known}", known=Several(NAMED))
    return by_name


def mass(pattern: HeadPattern, weights: Tensor, ids: Tensor, keys: Tensor | None) -> Tensor:
    """Weight (B, H, Q) that each row gives to the pattern's keys; NaN where the pattern has none for that row."""
    if isinstance(pattern, str):
        return NAMED[pattern](weights, ids, keys)
    marks = torch.stack([_marks(pattern, row) for row in ids]).to(weights.device)  # (B, T, T)
    if keys is not None:
        marks = marks & keys  # (B, 1, K)
    return measures.mass_on(weights, marks.unsqueeze(1))


def _marks(pattern: Marks, ids: Tensor) -> Tensor:
    made = torch.as_tensor(pattern(ids))
    wanted = (len(ids), len(ids))
    if tuple(made.shape) != wanted or made.dtype != torch.bool:
        raise Problem(
            "{name} returned {dtype} of shape {shape}; for {count} tokens it must return a boolean matrix of {count} "
            "rows and columns",
            name=name_of(pattern),
            dtype=made.dtype,
            shape=tuple(made.shape),
            count=len(ids),
        )
    return made
