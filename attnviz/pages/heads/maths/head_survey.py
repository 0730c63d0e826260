"""What every head of a model does over many sentences, and what it costs to take it away: made in steps, and summed up.

Six patterns are looked for; the costs are those of `removal_costs`, for models that predict the next token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache

import numpy as np
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.heads.maths.sentence_sets import TextKind, sentences_of
from attnviz.runs import prepared_files
from attnviz.runs.heads.head_scores import HeadScores
from attnviz.runs.heads.removal_costs import HERE, HeadWork
from attnviz.runs.prepared_files import packaged_weights

#: names of head_patterns.NAMED, in the order in which they are offered
PATTERNS = ("induction", "previous_token", "duplicate_token", "first_token", "same_token", "next_token")
COSTS = ("silenced", "mean", "direct")
EXAMPLES_KEPT = 5  #: sentences of each head and pattern that are named
SENTENCES, LENGTH = 64, 64


@dataclass(frozen=True)
class Config:
    """The sentences, and on how many of them the costs are measured."""

    text: TextKind = "books"
    own: str = ""
    count: int = SENTENCES
    length: int = LENGTH
    seed: int = 0  #: of random words

    def sentences(self, loaded: LoadedModel) -> tuple[str, ...]:
        return sentences_of(loaded, self.text, self.own, self.count, self.length, self.seed)


@dataclass(frozen=True)
class MeasureSummary:
    """One pattern or cost of all N heads over the sentences; NaN where no sentence has a place for it."""

    mean: np.ndarray  #: (N,)
    stderr: np.ndarray  #: (N,) of that mean
    stability: np.ndarray  #: (N,) share of sentences in which the head is among the ten that show it most
    counts: np.ndarray  #: (N,) in how many sentences it can occur
    best: np.ndarray  #: (N, E) the sentences that show it most, -1 where there are fewer
    best_scores: np.ndarray  #: (N, E)

    @classmethod
    def of(cls, scores: HeadScores, name: str) -> MeasureSummary:
        """From the scores of each sentence."""
        each = scores.by_sentence[name]  # (S, N)
        filled = np.where(np.isnan(each), -np.inf, each)
        order = np.argsort(-filled, 0, kind="stable")[:EXAMPLES_KEPT].T  # (N, E)
        values = np.take_along_axis(filled.T, order, 1)
        scored = np.isfinite(values)
        return cls(
            scores.mean[name],
            scores.stderr[name],
            scores.stability[name],
            (~np.isnan(each)).sum(0),
            np.where(scored, order, -1),
            np.where(scored, values, np.nan),
        )


@dataclass(frozen=True)
class Survey:
    """All that was found so far."""

    places: tuple[tuple[int, int], ...]  #: (layer, head) of each of the N heads
    measures: Mapping[str, MeasureSummary]
    sentences: tuple[str, ...]
    about: Mapping[str, object] = field(default_factory=dict)  #: of a prepared one: when, with what, by which seed

    def column(self, layer: int, head: int) -> int | None:
        """The place of a head among the N; None where the model has no such head."""
        return self.places.index((layer, head)) if (layer, head) in self.places else None

    def with_measures_of(self, other: Survey) -> Survey:
        """This one and the measures of another over the same heads, its sentences being the first of these."""
        return replace(self, measures={**self.measures, **other.measures})


@dataclass(frozen=True)
class SurveySoFar:
    """How far a run has come, and what it has found."""

    scores: HeadScores | None
    sentences: tuple[str, ...]
    share: float

    @property
    def done(self) -> bool:
        return self.share >= 1.0

    @property
    def nbytes(self) -> int:
        arrays = () if self.scores is None else self.scores.by_sentence.values()
        return sum(rows.nbytes for rows in arrays) + sum(map(len, self.sentences))

    def survey(self) -> Survey | None:
        """Summed up; None before the first sentence is done."""
        if self.scores is None:
            return None
        measures = {name: MeasureSummary.of(self.scores, name) for name in self.scores.by_sentence}
        return Survey(self.scores.places, measures, self.sentences)


def patterns(loaded: LoadedModel, config: Config, by: HeadWork = HERE) -> Iterator[SurveySoFar]:
    """Look for every pattern, one sentence after the other; `by` another than this process, some at a step."""
    sentences = config.sentences(loaded)
    names = [name for name in PATTERNS if loaded.entry.kind == "encoder" or name != "next_token"]
    latest: HeadScores | None = None
    for scores in by.scan(loaded, sentences, names):
        latest = scores or latest
        if latest is not None:  # before the first sentence there is nothing to draw
            yield SurveySoFar(latest, sentences, latest.sentences / len(sentences))


def costs(loaded: LoadedModel, config: Config, means_of: int = SENTENCES, by: HeadWork = HERE) -> Iterator[SurveySoFar]:
    """Take each head away, in one sentence after the other; the means are those over the first `means_of`."""
    if loaded.entry.kind not in ("decoder", None):
        raise Problem(
            "{name} does not predict the next token, so no loss rises without a head: costs are measured on decoders",
            name=loaded.name,
        )
    sentences = config.sentences(loaded)
    nothing_yet = SurveySoFar(None, sentences, 0.0)
    yield nothing_yet
    means: Mapping[str, Tensor] = {}
    for ready in by.mean_steps(loaded, sentences[:means_of]):
        if ready is None:
            yield nothing_yet
        else:
            means = ready
    latest: HeadScores | None = None
    a_sentence, since = 2 * len(means), 0  # steps: so many are made of one here; elsewhere a step is a second
    for scores in by.cost_steps(loaded, sentences, means):
        latest, since = (latest, since + 1) if scores is None else (scores, 0)
        done = 0 if latest is None else latest.sentences
        yield SurveySoFar(latest, sentences, (done + min(since / a_sentence, 0.99)) / len(sentences))


# Surveys of the packaged models, computed beforehand: the first picture of the page needs no model.
#
# `python -m scripts.prepare heads` writes them. Each holds for exactly these weights, these sentences and this seed;
# tests/pages/heads/test_prepared_surveys.py computes the beginning of each again.
FORMAT = 1
_FIELDS = tuple(field.name for field in fields(MeasureSummary))


def find(model: str, config: Config) -> Survey | None:
    """The prepared survey of these sentences, where there is one for this model."""
    if config != Config(config.text) or config.text == "own":
        return None
    survey = _read(file_of(model, config.text))
    about = {} if survey is None else survey.about
    return survey if (about.get("weights"), about.get("format")) == (packaged_weights(model), FORMAT) else None


def file_of(model: str, text: str) -> str:
    return f"{model}-{text}.npz"


def packed(survey: Survey, about: Mapping[str, object]) -> bytes:
    """The file's contents; numbers are kept with 16 bits."""
    arrays: dict[str, np.ndarray] = {"places": np.array(survey.places, np.uint8)}
    for name, measure in survey.measures.items():
        for each in _FIELDS:
            kind = np.int8 if each in ("counts", "best") else np.float16
            arrays[f"{name}.{each}"] = getattr(measure, each).astype(kind)
    header = {**about, "format": FORMAT, "sentences": survey.sentences, "measures": list(survey.measures)}
    return prepared_files.packed(header, arrays)


@lru_cache(maxsize=8)
def _read(name: str) -> Survey | None:
    kept = prepared_files.read(__package__, name)
    if kept is None:
        return None
    about, arrays = kept
    plain = {name: each.astype(np.int64 if each.dtype == np.int8 else np.float64) for name, each in arrays.items()}
    measures = {kind: MeasureSummary(*(plain[f"{kind}.{each}"] for each in _FIELDS)) for kind in about.pop("measures")}
    sentences = tuple(about.pop("sentences"))
    return Survey(tuple((int(a), int(b)) for a, b in arrays["places"]), measures, sentences, about)
