"""Patterns of every head of a model over many sentences, and the cost of removing each, computed in steps.

Costs are those of `removal_costs`, for models that predict the next token.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis import prepared_files
from attnviz.analysis.heads.removal_costs import HERE, HeadWork
from attnviz.analysis.heads.scan import EXPLAINED_FROM, NAMED, ROWS_EXPLAINED, HeadScores, summarise_scores
from attnviz.analysis.model_run import ModelRun
from attnviz.base.message import Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.heads.maths.sentence_sets import TextKind, make_sentences

PATTERNS = tuple(NAMED)
COSTS = ("silenced", "mean", "direct")
EXAMPLES_KEPT = 10  #: sentences of each head and pattern that are named: one from every tenth
SENTENCES, LENGTH = 64, 64


@dataclass(frozen=True)
class Config:
    """The sentences, and on how many of them the costs are measured."""

    text: TextKind = "books"
    own_text: str = ""
    count: int = SENTENCES
    length: int = LENGTH
    seed: int = 0  #: of random words

    def sentences(self, loaded: LoadedModel) -> tuple[str, ...]:
        return make_sentences(loaded, self.text, self.own_text, self.count, self.length, self.seed)


@dataclass(frozen=True)
class MeasureSummary:
    """One pattern or cost of all N heads over the sentences; NaN if it applies to no sentence."""

    mean: np.ndarray  #: (N,)
    stderr: np.ndarray  #: (N,) of that mean
    stability: np.ndarray  #: (N,) share of sentences in which the head is among the ten that show it most
    counts: np.ndarray  #: (N,) in how many sentences it can occur
    best: np.ndarray  #: (N, E) a sentence from every tenth, the one that shows it most first; -1 where there are fewer
    best_scores: np.ndarray  #: (N, E)
    explained: np.ndarray  #: (N,) share of all rows in which the pattern has half of the weight; NaN for a cost

    @classmethod
    def from_scores(cls, scores: HeadScores, name: str) -> "MeasureSummary":
        """Summarise the scores of all sentences."""
        by_sentence = scores.by_sentence[name]  # (S, N)
        filled = np.where(np.isnan(by_sentence), -np.inf, by_sentence)
        order = np.argsort(-filled, 0, kind="stable").T  # (N, S)
        counts = np.isfinite(by_sentence).sum(0)[:, None]
        tenths = np.arange(EXAMPLES_KEPT)[None, :]
        ranks = np.where(
            counts > EXAMPLES_KEPT, -(-tenths * counts // EXAMPLES_KEPT), tenths
        )  # the first of each tenth
        scored = ranks < counts
        best = np.where(scored, np.take_along_axis(order, np.minimum(ranks, order.shape[1] - 1), 1), -1)
        values = np.where(scored, np.take_along_axis(filled.T, np.maximum(best, 0), 1), np.nan)
        rows = scores.by_sentence.get(name + ROWS_EXPLAINED)
        explained = np.full(len(best), np.nan) if rows is None else rows.mean(0)
        return cls(*summarise_scores(by_sentence), best, values, explained)


@dataclass(frozen=True, eq=False)
class HeadScan:
    """Measures of all heads on the sentences read so far."""

    places: tuple[tuple[int, int], ...]  #: (layer, head) of each of the N heads
    measures: Mapping[str, MeasureSummary]
    sentences: tuple[str, ...]
    about: Mapping[str, object] = field(default_factory=dict)  #: of a prepared one: when, with what, by which seed

    def column(self, layer: int, head: int) -> int | None:
        """Index of a head among the N; None if the model has no such head."""
        return self.places.index((layer, head)) if (layer, head) in self.places else None


@dataclass(frozen=True)
class HeadScanProgress:
    """Progress of a scan; `scores` None: no sentence is finished."""

    scores: HeadScores | None
    sentences: tuple[str, ...]
    share: float

    def summarise(self) -> HeadScan | None:
        """Summarise the finished sentences; None before the first."""
        if self.scores is None:
            return None
        names = [name for name in self.scores.by_sentence if not name.endswith(ROWS_EXPLAINED)]
        measures = {name: MeasureSummary.from_scores(self.scores, name) for name in names}
        return HeadScan(self.scores.places, measures, self.sentences[: self.scores.sentences])


def scan_patterns(loaded: LoadedModel, config: Config, by: HeadWork = HERE) -> Iterator[HeadScanProgress]:
    """Measure every pattern, sentence by sentence; `by` says which process works."""
    sentences = config.sentences(loaded)
    names = [name for name in PATTERNS if loaded.entry.kind == "encoder" or name != "next_token"]
    latest: HeadScores | None = None
    for scores in by.scan(loaded, sentences, [*names, *(name + ROWS_EXPLAINED for name in names)]):
        latest = scores or latest
        if latest is not None:  # before the first sentence there is nothing to draw
            yield HeadScanProgress(latest, sentences, latest.sentences / len(sentences))


def scan_costs(
    loaded: LoadedModel, config: Config, on: int = SENTENCES, by: HeadWork = HERE
) -> Iterator[HeadScanProgress]:
    """Measure the cost of removing each head on the first `on` sentences; mean outputs are over all sentences.

    Problem if the model is no decoder.
    """
    if loaded.entry.kind not in ("decoder", None):
        raise Problem(
            "{name} does not predict the next token, so no loss rises without a head: costs are measured on decoders",
            name=loaded.name,
        )
    sentences = config.sentences(loaded)
    measured = sentences[:on]
    nothing_yet = HeadScanProgress(None, measured, 0.0)
    yield nothing_yet
    means: Mapping[str, Tensor] = {}
    for ready in by.mean_steps(loaded, sentences):
        if ready is None:
            yield nothing_yet
        else:
            means = ready
    latest: HeadScores | None = None
    a_sentence, since = 2 * len(means), 0  # steps: so many are made of one here; elsewhere a step is a second
    for scores in by.cost_steps(loaded, measured, means):
        latest, since = (latest, since + 1) if scores is None else (scores, 0)
        done = 0 if latest is None else latest.sentences
        yield HeadScanProgress(latest, measured, (done + min(since / a_sentence, 0.99)) / len(measured))


# Surveys of the packaged models, computed beforehand: the first picture of the page needs no model.
#
# `python -m scripts.prepare heads` writes them. Each holds for exactly these weights, these sentences and this seed;
# tests/pages/heads/test_prepared_surveys.py computes the beginning of each again.
FORMAT = 2
_FIELDS = tuple(field.name for field in fields(MeasureSummary))


def find_prepared_scan(model: str, config: Config) -> HeadScan | None:
    """The packaged scan of these sentences by this model; None if there is none."""
    if config != Config(config.text) or config.text == "own":
        return None
    scan = _read_scan(scan_file(model, config.text))
    about = {} if scan is None else scan.about
    return scan if about.get("weights") == prepared_files.packaged_weights(model) else None


def scan_file(model: str, text: str) -> str:
    return f"{model}-{text}.npz"


def pack_scan(scan: HeadScan, about: Mapping[str, object]) -> bytes:
    """Contents of the file of a scan, with numbers of 16 bits."""
    arrays = {
        f"{name}.{statistic}": getattr(measure, statistic).astype(
            np.int8 if statistic in ("counts", "best") else np.float16
        )
        for name, measure in scan.measures.items()
        for statistic in _FIELDS
    }
    header = {**about, "format": FORMAT, "sentences": scan.sentences, "measures": list(scan.measures)}
    return prepared_files.pack_file(header, arrays | {"places": np.array(scan.places, np.uint8)})


@lru_cache(maxsize=8)
def _read_scan(name: str) -> HeadScan | None:
    stored = prepared_files.read(__package__, name)
    if stored is None or stored[0].get("format") != FORMAT:
        return None
    about, arrays = stored
    plain = {name: array.astype(np.int64 if array.dtype == np.int8 else np.float64) for name, array in arrays.items()}
    measures = {
        kind: MeasureSummary(*(plain[f"{kind}.{statistic}"] for statistic in _FIELDS)) for kind in about.pop("measures")
    }
    sentences = tuple(about.pop("sentences"))
    return HeadScan(tuple((int(a), int(b)) for a, b in arrays["places"]), measures, sentences, about)


# What heads are called: by the pattern on which they put half of their weight, over all sentences.
NAMED_FROM = 0.5  #: the mean from which a head is named after a pattern


def pattern_cells(pattern: str, words: int) -> list[list[int]]:
    """The cells [key, query] that a pattern is about, in a text of so many words written twice."""
    ids = torch.arange(words).repeat(2)[None]  # (1, T)
    on_each_key = torch.eye(2 * words)[None, :, None].repeat(1, 1, 2 * words, 1)  # (1, T, T, T): head h looks at key h
    return (NAMED[pattern].score(on_each_key, ids, None)[0] > 0.5).nonzero().tolist()


@dataclass(frozen=True)
class StrongestPatterns:
    """Of each of the N heads the pattern that has most of its weight."""

    number: np.ndarray  #: (N,) its index among the measured patterns
    named: np.ndarray  #: (N,) whether the head is called after it
    explained: np.ndarray  #: (N,) share of all rows in which it has half of the weight


def strongest_patterns(scan: HeadScan) -> StrongestPatterns:
    """The strongest pattern of every head."""
    measures = [scan.measures[kind] for kind in _measured_patterns(scan)]
    means = np.nan_to_num(np.stack([measure.mean for measure in measures]))
    number, columns = means.argmax(0), np.arange(means.shape[1])
    explained = np.stack([measure.explained for measure in measures])[number, columns]
    return StrongestPatterns(number, means.max(0) >= NAMED_FROM, explained)


def strongest_pattern(scan: HeadScan, column: int) -> str:
    """The pattern that has most of one head's weight."""
    return _measured_patterns(scan)[int(strongest_patterns(scan).number[column])]


@dataclass(frozen=True)
class ExplainedRows:
    """How many rows of a head a pattern explains on one sentence, and the mean weight on the first token."""

    explained: int
    rows: int
    first: float


def explain_rows(run: ModelRun, place: tuple[int, int], pattern: str) -> ExplainedRows:
    """Count the rows of a head in which a pattern has at least half of the weight."""
    layer, head = place
    weights = run.stacks[0].layers[layer].weights(heads=[head]).float()
    mass = NAMED[pattern].score(weights, torch.tensor([run.source.ids]), None)[0, 0]
    explained = int((mass.nan_to_num(0.0) >= EXPLAINED_FROM).sum())
    return ExplainedRows(explained, len(mass), float(weights[0, 0, :, 0].mean()))


def count_heads(scan: HeadScan, kind: str) -> int:
    """Number of heads of a kind."""
    return int((np.nan_to_num(scan.measures[kind].mean) >= NAMED_FROM).sum())


@dataclass(frozen=True)
class LayerThird:
    """A third of a model's layers, from `first` to `last`, and how many heads of a kind it has."""

    first: int
    last: int
    heads: int


def count_by_thirds(scan: HeadScan, kind: str) -> list[LayerThird]:
    """How many heads have this kind as their strongest in each third of the layers; empty of fewer than six layers."""
    layers, strongest = np.array(scan.places)[:, 0], strongest_patterns(scan)
    of_kind = layers[strongest.named & (strongest.number == _measured_patterns(scan).index(kind))]
    if layers.max() < 5:
        return []
    thirds = np.array_split(np.arange(layers.max() + 1), 3)
    return [LayerThird(int(third[0]), int(third[-1]), int(np.isin(of_kind, third).sum())) for third in thirds]


def kinds_of_head(scan: HeadScan, column: int) -> dict[str, float]:
    """Kinds of one head with their means, the strongest first; empty if no mean reaches NAMED_FROM."""
    means = {kind: float(scan.measures[kind].mean[column]) for kind in _measured_patterns(scan)}
    return {kind: means[kind] for kind in sorted(means, key=lambda kind: -means[kind]) if means[kind] >= NAMED_FROM}


def _measured_patterns(scan: HeadScan) -> list[str]:
    return [kind for kind in PATTERNS if kind in scan.measures]


_START = """\
import attnviz as av
from attnviz.pages.heads.maths import sentence_sets

loaded = av.load({model!r})
sentences = sentence_sets.make_sentences(loaded, {text!r}{own}, count={count}, length={length}{seed})
"""
_PATTERN = """\
table = av.find_heads(loaded, sentences, patterns=({measure!r},))
print(table)
table.plot()
"""
_COST = """\
means = av.mean_outputs(loaded, sentences)
# on {costs} of {count} sentences; the file keeps what is done
table = av.cost_of_heads(loaded, sentences[:{costs}], means=means, keep="costs.npz")
for head in table.top(5, {measure!r}):
    print(head)
"""


def program(model: str, config: Config, measure: str, costs: int) -> str:
    """Program that finds the heads with the largest `measure`, a pattern or a cost."""
    return (_START + (_COST if measure in COSTS else _PATTERN)).format(
        model=model,
        text=config.text,
        own=f", own_text={config.own_text!r}" if config.text == "own" else "",
        count=config.count,
        length=config.length,
        seed=f", seed={config.seed}" if config.text == "repeated" else "",
        measure=measure,
        costs=costs,
    )
