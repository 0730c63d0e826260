"""How strongly each head shows each pattern: a model run over many sentences, scored one batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.analysis.heads.batches import Batch, batch_inputs, split_batch, torch_module
from attnviz.base.message import Message, MessageList, Problem, require_one_of
from attnviz.core import measures
from attnviz.models.capture import RecordedLayer, Trace, capture, weight_bands
from attnviz.models.capture.recorded_layer import CHUNK
from attnviz.models.catalogue import LoadedModel

AMONG = 10  # a head counts as found in a sentence if it is among so many
ScoredRows = Literal["with targets", "all"]
TOKENS_AT_ONCE = 4096  #: so many positions of a batch are recorded at once


@dataclass(frozen=True)
class HeadScore:
    """One head and one pattern."""

    layer: int  #: in execution order
    head: int
    pattern: str
    mean: float
    stderr: float  #: NaN if only one sentence could be scored
    stability: float  #: the share of sentences in which it is among the ten heads that show the pattern most
    sentences: int  #: in how many the pattern could occur


@dataclass(frozen=True)
class HeadScores:
    """The scores of N heads on S sentences, from 0 to 1; NaN where a sentence has no place for the pattern."""

    places: tuple[tuple[int, int], ...]  #: (layer, head) of each of the N heads
    names: tuple[str, ...]  #: the dotted name of each head's layer
    by_sentence: Mapping[str, np.ndarray]  #: pattern -> (S, N)
    sentences: int = 0

    @property
    def mean(self) -> dict[str, np.ndarray]:
        """Pattern -> (N,): the mean over the sentences in which it can occur."""
        return {name: _mean(scores)[0] for name, scores in self.by_sentence.items()}

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Pattern -> (N,): the standard error of that mean."""
        return {name: summarise_scores(scores)[1] for name, scores in self.by_sentence.items()}

    @property
    def stability(self) -> dict[str, np.ndarray]:
        """Pattern -> (N,): the share of sentences in which the head is among the ten that show it most."""
        return {name: summarise_scores(scores)[2] for name, scores in self.by_sentence.items()}

    def top(self, n: int = 5, pattern: str | None = None) -> list[HeadScore]:
        """The `n` heads with the highest mean, of one pattern or of each in turn."""
        best = []
        for name in self.by_sentence if pattern is None else (self._known(pattern),):
            mean, error, stable, counts = summarise_scores(self.by_sentence[name])
            order = [int(i) for i in np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")[:n]]
            best += [
                HeadScore(*self.places[i], name, float(mean[i]), float(error[i]), float(stable[i]), int(counts[i]))
                for i in order
                if not np.isnan(mean[i])
            ]
        return best

    def grid(self, pattern: str) -> np.ndarray:
        """The means as a matrix (layers, heads); NaN where a layer has fewer heads."""
        layers = sorted({layer for layer, _ in self.places})
        matrix = np.full((len(layers), 1 + max(head for _, head in self.places)), np.nan)
        for value, (layer, head) in zip(_mean(self.by_sentence[self._known(pattern)])[0], self.places, strict=True):
            matrix[layers.index(layer), head] = value
        return matrix

    def _known(self, pattern: str) -> str:
        if pattern not in self.by_sentence:
            raise Problem(
                "pattern={name} was not looked for; these were: {known}",
                name=pattern,
                known=MessageList(self.by_sentence),
            )
        return pattern


def _mean(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of scores (S, N): the mean over the sentences that have one, NaN where none has, and their number."""
    counts = (~np.isnan(scores)).sum(0)
    return np.where(counts > 0, np.nansum(scores, 0) / np.maximum(counts, 1), np.nan), counts


def summarise_scores(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of scores (S, N): mean, standard error and stability, NaN where there is nothing to sum up, and their number."""
    scored = ~np.isnan(scores)
    mean, counts = _mean(scores)
    several = np.maximum(counts, 1)
    spread = np.nansum((scores - mean) ** 2, 0) / np.maximum(counts - 1, 1)
    ranks = (-np.where(scored, scores, -np.inf)).argsort(1, kind="stable").argsort(1, kind="stable")
    stability = np.where(counts > 0, ((ranks < AMONG) & scored).sum(0) / several, np.nan)
    return mean, np.where(counts > 1, np.sqrt(spread / several), np.nan), stability, counts


HeadPositions = tuple[tuple[int, int], ...]


class GrowingScores:
    """Rows of scores of every head, one row a sentence. Earlier answers of `so_far` stay as they were."""

    def __init__(self) -> None:
        self._places: HeadPositions | None = None
        self._names: tuple[str, ...] = ()
        self._rows: dict[str, np.ndarray] = {}  # (room for sentences, N); doubled when it is full
        self._count = 0

    def add(self, places: HeadPositions, names: tuple[str, ...], scores: dict[str, np.ndarray]) -> None:
        """Append the rows (B, N) of each pattern or cost."""
        if self._places is not None and (places, set(scores)) != (self._places, set(self._rows)):
            raise Problem("the model ran other layers for this batch than for the first one")
        self._places, self._names = places, names
        count = self._count + len(next(iter(scores.values())))
        for name, rows in scores.items():
            buffer = self._rows.get(name, np.empty((0, len(places))))
            if len(buffer) < count:
                self._rows[name] = np.empty((max(16, 2 * count), len(places)))
                self._rows[name][: self._count] = buffer[: self._count]
            self._rows[name][self._count : count] = rows
        self._count = count

    def so_far(self) -> HeadScores:
        """Everything added up to now; a Problem where that is nothing."""
        if self._places is None:
            raise Problem("there is no sentence to look at")
        by_sentence = {name: rows[: self._count] for name, rows in self._rows.items()}
        return HeadScores(self._places, self._names, by_sentence, self._count)


def scan(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    patterns: Sequence[HeadPattern] = ("previous_token", "induction", "duplicate_token"),
    tokenizer: Any = None,
    rows: ScoredRows = "with targets",
    truncate: bool = False,
) -> Iterator[HeadScores]:
    """Yield the scores so far after every batch; the last ones are complete.

    `batches` are sentences, files of one sentence a line, token ids (T,) or (B, T), or a model's inputs as a
    dictionary; or one of these alone. A sentence's score is the mean over its rows in which the pattern has a key to
    look at; with `rows` "all", over all rows, where a row without one counts as 0: as TransformerLens' `detect_head`
    counts.
    """
    named_patterns = check_patterns(patterns)
    require_one_of("rows", rows, ("with targets", "all"))
    growing = GrowingScores()
    for inputs in batch_inputs(model, batches, tokenizer, truncate):
        for chunk in split_batch(inputs, TOKENS_AT_ONCE):
            growing.add(*_score_batch(torch_module(model), chunk, named_patterns, rows))
            yield growing.so_far()
    growing.so_far()  # a Problem where there was no sentence


def _score_batch(
    model: nn.Module, inputs: dict[str, Any], patterns: dict[str, HeadPattern], rows: ScoredRows
) -> tuple[HeadPositions, tuple[str, ...], dict[str, np.ndarray]]:
    """The heads' places and layers, and (B, N) for each pattern."""
    trace = capture(model, logits=None, **inputs)
    layers = [(number, layer) for number, layer in enumerate(trace.layers) if layer.kind == "self"]
    places = tuple((number, head) for number, layer in layers for head in range(layer.n_heads))
    names = tuple(layer.name for _, layer in layers for _ in range(layer.n_heads))
    ids = _token_ids(trace, layers)
    by_layer = [_score_layer(layer, patterns, ids, rows) for _, layer in layers]
    scores = {
        name: torch.cat(parts, 1).double().cpu().numpy()
        for name, parts in zip(patterns, zip(*by_layer, strict=True), strict=True)
    }
    return places, names, scores


def _score_layer(layer: RecordedLayer, patterns: dict[str, HeadPattern], ids: Tensor, rows: ScoredRows) -> list[Tensor]:
    """One number for each sentence and head, (B, H), of every pattern."""
    b, heads, q_len, _ = layer.shape
    real = None if layer.padding is None else layer.padding[..., 0, :]  # (B, 1, K)
    marks = {name: _mark_keys(pattern, ids, real) for name, pattern in patterns.items() if not isinstance(pattern, str)}
    masses = torch.empty(len(patterns), b, heads, q_len, device=layer.device)
    in_bands = []
    for mass, (name, pattern) in zip(masses, patterns.items(), strict=True):
        if pattern == RETRIEVAL:
            mass[:] = _mark_retrievals(layer, ids, real)
        else:
            in_bands.append((mass, name, pattern))
    for band in weight_bands(layer, aligned=True) if in_bands else ():
        keys = None if real is None else real[..., band.keys]
        for mass, name, pattern in in_bands:
            mass[:, band.heads, band.rows] = (
                _named_scores(pattern, band.weights, ids[:, band.keys], keys)
                if isinstance(pattern, str)
                else _mass_on_marks(band.weights, marks[name][..., band.rows, :], band.keys)
            )
    filled = masses.nan_to_num(0.0) if rows == "all" else masses
    return [*measures.mean_over_rows(filled, layer.real_queries)]


def _mark_retrievals(layer: RecordedLayer, ids: Tensor, real: Tensor | None) -> Tensor:
    """1 where a row looks most at the key that its next token is copied from, else 0, (B, H, Q); NaN if none is copied.

    Only these few rows are computed.
    """
    b, heads, q_len, k_len = layer.shape
    sources = torch.stack(
        [copied_keys(row, None if real is None else real[i % len(real), 0]) for i, row in enumerate(ids)]
    )
    sources = sources[:, k_len - q_len :].to(layer.device)
    scores = torch.full((b, heads, q_len), torch.nan, device=layer.device)
    rows = (sources >= 0).any(0).nonzero().flatten()
    for part in rows.split(max(1, CHUNK // (b * heads * k_len))) if len(rows) else ():
        strongest = layer.cropped(part, slice(None)).weights().argmax(-1)  # (B, H, rows)
        copied = sources[:, None, part]
        scores[..., part] = (strongest == copied).float().masked_fill(copied < 0, torch.nan)
    return scores


def copied_keys(ids: Tensor, real: Tensor | None = None) -> Tensor:
    """For each position of ids (T,), the earlier one that the next token is copied from; -1 where none is.

    What the end of a text repeats of an earlier passage is copied, the longest such run of two tokens or more: a needle
    in a haystack that the answer gives again. `real` (T,) is False at padding.
    """
    places = torch.arange(len(ids)) if real is None else real.cpu().nonzero().flatten()
    text, sources = ids.cpu()[places], torch.full((len(ids),), -1)
    ends, count = torch.arange(len(text) - 1), 0  # where an earlier occurrence of the last `count` tokens ends
    while True:
        longer = ends[(ends >= count) & (ends < len(text) - 1 - count)]
        longer = longer[text[longer - count] == text[len(text) - 1 - count]]
        if not len(longer):
            break
        ends, count = longer, count + 1
    if count > 1:
        last = int(ends[-1])
        sources[places[len(text) - count - 1 : len(text) - 1]] = places[last - count + 1 : last + 1]
    return sources


def _token_ids(trace: Trace, layers: list[tuple[int, RecordedLayer]]) -> Tensor:
    """Token ids (B, K), or running numbers where the model was given none."""
    if not layers:
        raise Problem("the model has no self-attention to look at")
    b, _, _, k_len = layers[0][1].shape
    text = trace.inputs.get("input_ids")
    if text is not None and text.dim() == 2 and text.shape[1] != k_len:
        raise Problem(
            "this model attends over {positions} positions for {count} tokens: which token stands where is not known",
            positions=k_len,
            count=text.shape[1],
        )
    candidates = (
        tensor for tensor in trace.inputs.values() if tuple(tensor.shape) == (b, k_len) and tensor.dtype == torch.long
    )
    return next(candidates, torch.arange(k_len).expand(b, -1))


#: token ids of one sentence, (T,) -> boolean (T, T): the keys that a head of this kind looks at from each query
Marks = Callable[[Tensor], Tensor]
HeadPattern = str | Marks


@dataclass(frozen=True)
class NamedPattern:
    """A pattern known by name, and the words of the page Heads for it."""

    #: weight on the pattern, (B, H, Q), given weights (B, H, Q, K), ids (B, K) and which keys are real, (B, 1, K)
    score: Callable[[Tensor, Tensor, Tensor | None], Tensor]
    label: Message
    head: Message  #: what a head is called that shows it
    does: Message  #: what such a head does


#: by name, in the order in which the page offers them
NAMED = {
    "induction": NamedPattern(
        measures.induction_score,
        Message("induction"),
        Message("induction head"),
        Message("looks at what followed the same token earlier"),
    ),
    "previous_token": NamedPattern(
        lambda weights, ids, keys: measures.previous_token_mass(weights, keys),
        Message("previous token"),
        Message("previous-token head"),
        Message("looks at the token just before"),
    ),
    "duplicate_token": NamedPattern(
        measures.duplicate_token_score,
        Message("earlier copies"),
        Message("duplicate-token head"),
        Message("looks at earlier copies of the same token"),
    ),
    "first_token": NamedPattern(
        lambda weights, ids, keys: measures.first_token_mass(weights, keys),
        Message("first token"),
        Message("first-token head (sink)"),
        Message("rests on the first token"),
    ),
    "same_token": NamedPattern(
        lambda weights, ids, keys: measures.offset_mass(weights, 0, keys),
        Message("the token itself"),
        Message("same-token head"),
        Message("looks at the token itself"),
    ),
    "next_token": NamedPattern(
        lambda weights, ids, keys: measures.offset_mass(weights, 1, keys),
        Message("next token"),
        Message("next-token head"),
        Message("looks at the token just after"),
    ),
}
#: Wu et al. 2024: of the tokens that the end of a text copies from an earlier passage, the share at which the head
#: looked most while they were written
RETRIEVAL = "retrieval"
KNOWN = (*NAMED, RETRIEVAL)


#: after a pattern's name: the share of all rows in which the pattern has at least half of the weight
ROWS_EXPLAINED = " rows"
EXPLAINED_FROM = 0.5


def _named_scores(name: str, weights: Tensor, ids: Tensor, keys: Tensor | None) -> Tensor:
    """What a pattern known by name scores in each row, (B, H, Q)."""
    mass = NAMED[name.removesuffix(ROWS_EXPLAINED)].score(weights, ids, keys)
    return (mass.nan_to_num(0.0) >= EXPLAINED_FROM).float() if name.endswith(ROWS_EXPLAINED) else mass


def name_of(pattern: HeadPattern) -> str:
    """The name under which a pattern's scores are kept: a function's own name."""
    return pattern if isinstance(pattern, str) else getattr(pattern, "__name__", type(pattern).__name__)


def check_patterns(patterns: Sequence[HeadPattern]) -> dict[str, HeadPattern]:
    """The patterns by name; a Problem for a name that is not known or comes twice, and for none at all."""
    if isinstance(patterns, str):
        patterns = (patterns,)
    by_name: dict[str, HeadPattern] = {}
    for pattern in patterns:
        name = name_of(pattern)
        if isinstance(pattern, str) and pattern != RETRIEVAL and pattern.removesuffix(ROWS_EXPLAINED) not in NAMED:
            raise Problem("pattern={name} is not known; known are: {known}", name=pattern, known=MessageList(KNOWN))
        if not isinstance(pattern, str) and not callable(pattern):
            raise Problem("pattern={pattern} must be a name or a function of the token ids", pattern=repr(pattern))
        if name in by_name:
            raise Problem("two patterns are called {name}", name=name)
        by_name[name] = pattern
    if not by_name:
        raise Problem("patterns is empty: name at least one of {known}", known=MessageList(KNOWN))
    return by_name


def _mass_on_marks(weights: Tensor, marks: Tensor, keys: slice) -> Tensor:
    """Weight (B, H, q) on marked keys, (B, 1, q, K); NaN where a row has no mark or may see no key."""
    empty = ~marks.any(-1) | (weights.sum(-1) == 0)
    return measures.weighted_sum(weights, marks[..., keys]).masked_fill(empty, torch.nan)


def _mark_keys(pattern: Marks, ids: Tensor, real: Tensor | None) -> Tensor:
    """Keys (B, 1, T, T) that a function marks, padding left out."""
    marks = torch.stack([_mark_sentence(pattern, row) for row in ids]).to(ids.device).unsqueeze(1)
    return marks if real is None else marks & real.unsqueeze(-2)


def _mark_sentence(pattern: Marks, ids: Tensor) -> Tensor:
    marks = torch.as_tensor(pattern(ids))
    if tuple(marks.shape) != (len(ids), len(ids)) or marks.dtype != torch.bool:
        raise Problem(
            "{name} returned {dtype} of shape {shape}; for {count} tokens it must return a boolean matrix of {count} "
            "rows and columns",
            name=name_of(pattern),
            dtype=marks.dtype,
            shape=tuple(marks.shape),
            count=len(ids),
        )
    return marks
