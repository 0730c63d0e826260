"""What heads are called: by the pattern on which they put half of their weight, over all sentences."""

import numpy as np

from attnviz.base.message import Message
from attnviz.pages.heads.maths.head_survey import COSTS, PATTERNS, Config, Survey

NAMED_FROM = 0.5  #: the mean from which a head is named after a pattern

#: pattern -> what a head is called that shows it, and what such a head does
KINDS: dict[str, tuple[Message, Message]] = {
    "induction": (
        Message("induction head"),
        Message("looks at what followed the same token earlier"),
    ),
    "previous_token": (Message("previous-token head"), Message("looks at the token just before")),
    "duplicate_token": (Message("duplicate-token head"), Message("looks at earlier copies of the same token")),
    "first_token": (Message("first-token head (sink)"), Message("rests on the first token")),
    "same_token": (Message("same-token head"), Message("looks at the token itself")),
    "next_token": (Message("next-token head"), Message("looks at the token just after")),
}


def named(survey: Survey, most: int = 5) -> list[tuple[str, int]]:
    """The heads of every kind as (kind, column), the strongest first, at most `most` of each."""
    heads: list[tuple[str, int]] = []
    for kind in _measured(survey):
        mean = np.nan_to_num(survey.measures[kind].mean, nan=-1.0)
        order = np.argsort(-mean, kind="stable")[:most]
        heads += [(kind, int(column)) for column in order if mean[column] >= NAMED_FROM]
    return heads


def count_of(survey: Survey, kind: str) -> int:
    """How many heads have this name."""
    return int((np.nan_to_num(survey.measures[kind].mean) >= NAMED_FROM).sum())


def names_of(survey: Survey, column: int) -> dict[str, float]:
    """The kinds that one head is of, each with its mean, the strongest first; none where no pattern has half of it."""
    means = {kind: float(survey.measures[kind].mean[column]) for kind in _measured(survey)}
    return {kind: means[kind] for kind in sorted(means, key=lambda kind: -means[kind]) if means[kind] >= NAMED_FROM}


def _measured(survey: Survey) -> list[str]:
    return [kind for kind in PATTERNS if kind in survey.measures]


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's: the correlation of the ranks of two measures over the heads that have both; NaN below three heads."""
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < 3:
        return float("nan")
    one, two = _ranks(a[both]), _ranks(b[both])
    return float("nan") if np.ptp(one) == 0 or np.ptp(two) == 0 else float(np.corrcoef(np.stack([one, two]))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 0; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - (counts - 1) / 2 - 1)[place])


_START = """\
import attnviz as av
from attnviz.pages.heads.maths import sentence_sets

loaded = av.load({model!r})
sentences = sentence_sets.sentences_of(loaded, {text!r}{own}, count={count}, length={length}{seed})
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
    """Find the heads again that show `measure`, a pattern or a cost, most."""
    opening = _START.format(
        model=model,
        text=config.text,
        own=f", own={config.own!r}" if config.text == "own" else "",
        count=config.count,
        length=config.length,
        seed=f", seed={config.seed}" if config.text == "repeated" else "",
    )
    body = _COST if measure in COSTS else _PATTERN
    return opening + body.format(measure=measure, count=config.count, costs=costs)
