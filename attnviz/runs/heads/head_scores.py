"""How strongly each head shows each pattern, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.base.message import Problem, Several
from attnviz.models.capture import RecordedLayer, capture
from attnviz.models.catalogue import LoadedModel
from attnviz.runs.heads.batches import Batch, inputs_of, module_of

AMONG = 10  # a head counts as found in a sentence if it is among so many


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
        return {name: summed_up(scores)[0] for name, scores in self.by_sentence.items()}

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Pattern -> (N,): the standard error of that mean."""
        return {name: summed_up(scores)[1] for name, scores in self.by_sentence.items()}

    @property
    def stability(self) -> dict[str, np.ndarray]:
        """Pattern -> (N,): the share of sentences in which the head is among the ten that show it most."""
        return {name: summed_up(scores)[2] for name, scores in self.by_sentence.items()}

    def top(self, n: int = 5, pattern: str | None = None) -> list[HeadScore]:
        """The `n` heads with the highest mean, of one pattern or of each in turn."""
        best = []
        for name in self.by_sentence if pattern is None else (self._known(pattern),):
            mean, error, stable, counts = summed_up(self.by_sentence[name])
            order = [int(i) for i in np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")[:n]]
            best += [
                HeadScore(*self.places[i], name, float(mean[i]), float(error[i]), float(stable[i]), int(counts[i]))
                for i in order
                if not np.isnan(mean[i])
            ]
        return best

    def grid(self, pattern: str) -> np.ndarray:
        """The means as a matrix (layers, heads); NaN where a layer has fewer heads."""
        mean = self.mean[self._known(pattern)]
        layers = sorted({layer for layer, _ in self.places})
        made = np.full((len(layers), 1 + max(head for _, head in self.places)), np.nan)
        for value, (layer, head) in zip(mean, self.places, strict=True):
            made[layers.index(layer), head] = value
        return made

    def _known(self, pattern: str) -> str:
        if pattern not in self.by_sentence:
            raise Problem(
                "pattern={name} was not looked for; these were: {known}",
                name=pattern,
                known=Several(self.by_sentence),
            )
        return pattern


def summed_up(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of scores (S, N): mean, standard error and stability, NaN where there is nothing to sum up, and their number."""
    known = ~np.isnan(scores)
    counts = known.sum(0)
    several = np.maximum(counts, 1)
    mean = np.where(counts > 0, np.nansum(scores, 0) / several, np.nan)
    spread = np.nansum((scores - mean) ** 2, 0) / np.maximum(counts - 1, 1)
    ranks = (-np.where(known, scores, -np.inf)).argsort(1, kind="stable").argsort(1, kind="stable")
    stability = np.where(counts > 0, ((ranks < AMONG) & known).sum(0) / several, np.nan)
    return mean, np.where(counts > 1, np.sqrt(spread / several), np.nan), stability, counts


HeadPositions = tuple[tuple[int, int], ...]


class GrowingScores:
    """Rows of scores of every head, one row a sentence. Earlier answers of `so_far` stay as they were."""

    def __init__(self) -> None:
        self._places: HeadPositions | None = None
        self._names: tuple[str, ...] = ()
        self._held: dict[str, np.ndarray] = {}  # (room for sentences, N); doubled when it is full
        self._count = 0

    def add(self, places: HeadPositions, names: tuple[str, ...], scores: dict[str, np.ndarray]) -> None:
        """Append the rows (B, N) of each pattern or cost."""
        if self._places is not None and (places, set(scores)) != (self._places, set(self._held)):
            raise Problem("the model ran other layers for this batch than for the first one")
        self._places, self._names = places, names
        count = self._count + len(next(iter(scores.values())))
        for name, rows in scores.items():
            self._held[name] = self._with_room(self._held.get(name, np.empty((0, len(places)))), count)
            self._held[name][self._count : count] = rows
        self._count = count

    def so_far(self) -> HeadScores:
        """Everything added up to now; a Problem where that is nothing."""
        if self._places is None:
            raise Problem("there is no sentence to look at")
        held = {name: rows[: self._count] for name, rows in self._held.items()}
        return HeadScores(self._places, self._names, held, self._count)

    def _with_room(self, held: np.ndarray, count: int) -> np.ndarray:
        if len(held) >= count:
            return held
        made = np.empty((max(16, 2 * count), held.shape[1]))
        made[: self._count] = held[: self._count]
        return made


#: of one batch: layer name, the sum over real positions (H, Dv), and how many there were; once for each run of a layer
HeadSums = list[tuple[str, Tensor, int]]


def mean_outputs(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any = None
) -> dict[str, Tensor]:
    """Layer name -> (H, 1, Dv): the mean over all real positions of all sentences, for `Edit(output=...)`.

    `batches` as in `find_heads`. A layer that runs several times in a pass has one mean over all of its runs.
    """
    return mean_of(sums_of(model, batches, tokenizer))


def sums_of(
    model: nn.Module | LoadedModel, batches: Iterable[Batch] | Batch, tokenizer: Any = None
) -> Iterator[HeadSums]:
    """For each batch the sums that its mean is made of."""
    for inputs in inputs_of(model, batches, tokenizer):
        yield [(layer.name, *_sum(layer)) for layer in capture(module_of(model), logits=None, **inputs)]


def mean_of(batches: Iterable[HeadSums]) -> dict[str, Tensor]:
    """Layer name -> (H, 1, Dv) from the sums of all batches, added in their order."""
    sums: dict[str, Tensor] = {}
    counts: dict[str, int] = {}
    for batch in batches:
        for name, total, count in batch:
            sums[name] = sums.get(name, 0) + total
            counts[name] = counts.get(name, 0) + count
    if not sums:
        raise Problem("there is no sentence to look at")
    return {name: (total / counts[name])[:, None] for name, total in sums.items()}


def _sum(layer: RecordedLayer) -> tuple[Tensor, int]:
    """The sum over real positions, (H, Dv), and their number."""
    outputs = layer.head_outputs()  # (B, H, Q, Dv)
    real = layer.real_queries  # (B or 1, 1, Q) or None
    if real is None:
        return outputs.sum((0, 2)), outputs.shape[0] * outputs.shape[2]
    real = real.expand(outputs.shape[0], 1, -1)
    return torch.where(real[..., None], outputs, 0.0).sum((0, 2)), int(real.sum())
