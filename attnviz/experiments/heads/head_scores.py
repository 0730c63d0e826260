"""How strongly each head shows each pattern, sentence by sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.core.message import Problem, Several

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
        return {name: _mean(scores) for name, scores in self.by_sentence.items()}

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Pattern -> (N,): the standard error of that mean."""
        return {name: _stderr(scores) for name, scores in self.by_sentence.items()}

    @property
    def stability(self) -> dict[str, np.ndarray]:
        """Pattern -> (N,): the share of sentences in which the head is among the ten that show it most."""
        return {name: _stability(scores) for name, scores in self.by_sentence.items()}

    def top(self, n: int = 5, pattern: str | None = None) -> list[HeadScore]:
        """The `n` heads with the highest mean, of one pattern or of each in turn."""
        found = []
        for name in self.by_sentence if pattern is None else (self._known(pattern),):
            scores = self.by_sentence[name]
            mean, error, stable = _mean(scores), _stderr(scores), _stability(scores)
            counts = (~np.isnan(scores)).sum(0)
            order = [int(i) for i in np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")[:n]]
            found += [
                HeadScore(*self.places[i], name, float(mean[i]), float(error[i]), float(stable[i]), int(counts[i]))
                for i in order
                if not np.isnan(mean[i])
            ]
        return found

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


def _mean(scores: np.ndarray) -> np.ndarray:
    """Mean over sentences (S, N) that leaves out NaN, without a warning where there is nothing else."""
    counts = (~np.isnan(scores)).sum(0)
    total = np.nansum(scores, 0)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)


def _stderr(scores: np.ndarray) -> np.ndarray:
    counts = (~np.isnan(scores)).sum(0)
    spread = np.nansum((scores - _mean(scores)) ** 2, 0) / np.maximum(counts - 1, 1)
    return np.where(counts > 1, np.sqrt(spread / np.maximum(counts, 1)), np.nan)


def _stability(scores: np.ndarray) -> np.ndarray:
    told = ~np.isnan(scores)
    filled = np.where(told, scores, -np.inf)
    ranks = (-filled).argsort(1, kind="stable").argsort(1, kind="stable")
    counts = told.sum(0)
    return np.where(counts > 0, ((ranks < AMONG) & told).sum(0) / np.maximum(counts, 1), np.nan)
