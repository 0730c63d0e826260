"""Which heads show which patterns over a data set, in one call, and the scores of all of them as a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor, nn

from attnviz.analysis.heads.batches import Batch
from attnviz.analysis.heads.removal_costs import head_costs
from attnviz.analysis.heads.scan import HeadPattern, HeadScore, HeadScores, ScoredRows, scan
from attnviz.base.extras import explain_missing_extra, pandas
from attnviz.base.words import N_
from attnviz.engine import remote_engine
from attnviz.models.catalogue import LoadedModel

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("layer", "name", "head", "pattern", "mean", "stderr", "stability", "sentences")


@dataclass(frozen=True, repr=False)
class HeadTable:
    """Scores of each head and pattern, from 0 to 1, or costs of each head."""

    scores: HeadScores
    complete: bool = True  #: False if the run was interrupted
    signed: bool = False  #: costs, which may be below 0 and above 1

    @property
    def mean(self) -> dict[str, np.ndarray]:
        """Pattern -> (layers, heads): the mean over the sentences in which it can occur; NaN where no head is."""
        return self._grids(self.scores.mean)

    @property
    def stderr(self) -> dict[str, np.ndarray]:
        """Pattern -> (layers, heads): the standard error of that mean."""
        return self._grids(self.scores.stderr)

    @property
    def stability(self) -> dict[str, np.ndarray]:
        """Pattern -> (layers, heads): in which share of the sentences the head is among the ten that show it most."""
        return self._grids(self.scores.stability)

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return self.scores.sentences

    def top(self, n: int = 5, pattern: str | None = None) -> list[HeadScore]:
        """The `n` heads that show a pattern most; of each pattern in turn where none is named."""
        return self.scores.top(n, pattern)

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each head and pattern: layer, name, head, pattern, mean, stderr, stability, sentences."""
        return pandas().DataFrame(self.rows(), columns=list(COLUMNS))

    def rows(self) -> list[dict[str, Any]]:
        """The same as dictionaries, with the names of COLUMNS."""
        names = dict(zip(self.scores.places, self.scores.names, strict=True))
        return [
            {"layer": score.layer, "name": names[score.layer, score.head], "head": score.head, "pattern": score.pattern}
            | {"mean": score.mean, "stderr": score.stderr, "stability": score.stability, "sentences": score.sentences}
            for score in self.top(len(self.scores.places))
        ]

    def plot(self, pattern: str | None = None) -> Any:
        """A Plotly figure: a map of layers by heads for one pattern, or for each beside the others."""
        with explain_missing_extra(N_("A plot")):
            from attnviz.figures import attention_figures  # here because plotly is only needed for the picture

        patterns = [pattern] if pattern is not None else list(self.scores.by_sentence)
        return attention_figures.head_maps(
            {name: self.scores.grid(name) for name in patterns}, self._layers(), self.signed
        )

    def _layers(self) -> list[int]:
        return sorted({layer for layer, _ in self.scores.places})

    def _grids(self, flat: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        layers, heads = zip(*self.scores.places, strict=True)
        rows = np.searchsorted(self._layers(), layers)
        grids = {name: np.full((rows.max() + 1, max(heads) + 1), np.nan) for name in flat}
        for name, values in flat.items():
            grids[name][rows, heads] = values
        return grids

    def __repr__(self) -> str:
        stopped = "" if self.complete else ", interrupted"
        lines = [f"{len(self.scores.places)} heads over {self.sentences} sentences{stopped}"]
        for score in self.top(3):
            error = "" if np.isnan(score.stderr) else f" ± {score.stderr:.3f}"
            lines.append(f"  {score.pattern:<16} layer {score.layer:>2} head {score.head:>2}   {score.mean:.3f}{error}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.to_dataframe().groupby("pattern", sort=False).head(5).to_html(index=False, float_format="%.3f")


def find_heads(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    patterns: Sequence[HeadPattern] = ("previous_token", "induction", "duplicate_token"),
    tokenizer: Any = None,
    progress: Callable[[int], object] | None = None,
    rows: ScoredRows = "with targets",
    truncate: bool = False,
) -> HeadTable:
    """Score every head for each pattern, over all sentences of `batches`.

    `batches` are sentences, files of one sentence a line, token ids, or a model's inputs as dictionaries, in a list or
    from a generator. A pattern is a name or a function of the token ids (T,) that marks the keys of each query,
    (T, T). "retrieval" needs texts that end with a copy of an earlier passage, as `needle_in_haystack` makes them: it
    is the share of the copied tokens at which a head looked most while they were written.

    `progress` is called with the number of sentences done. Interrupting (Ctrl-C, or the stop button of a notebook)
    returns what is done; its `.complete` is then False. A text longer than the model reads is a Problem, or is cut
    there with `truncate`.

    Where ATTNVIZ_ENGINE names a Ray, a list of sentences for a model that `load` made is read there in parts, if the
    patterns are names; everything else is read in this process.
    """
    requested: list[HeadPattern] = [patterns] if isinstance(patterns, str) else list(patterns)
    names = [pattern for pattern in requested if isinstance(pattern, str)]  # a function stays in this process
    steps: Iterator[HeadScores | None] = scan(model, batches, requested, tokenizer, rows, truncate)
    elsewhere = names == requested and rows == "with targets" and not truncate
    engine = _engine_for(model, batches, tokenizer) if elsewhere else None
    if engine is not None:
        steps = engine.scan(model, batches, names)
    return _table(steps, progress)


def cost_of_heads(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    means: Mapping[str, Tensor] | None = None,
    tokenizer: Any = None,
    keep: Path | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> HeadTable:
    """Measure how much the loss of the next token rises without each head, in nats.

    "silenced" is the rise when the head's output is 0. "mean", with `means` from `mean_outputs`, is the rise when it is
    its mean. "direct" is what the head adds to the right logit.

    `batches` as in `find_heads`; sentences of one length given as one tensor run faster. `keep` names a file (.npz)
    that holds what is done: a later call goes on from there. Interrupting returns what is done.

    Where ATTNVIZ_ENGINE names a Ray, a list of sentences for a model that `load` made is measured there in parts,
    unless `keep` names a file.
    """
    engine = _engine_for(model, batches, tokenizer) if keep is None else None
    steps: Iterator[HeadScores | None] = head_costs(model, batches, means, tokenizer, keep)
    if engine is not None:
        steps = engine.cost_steps(model, batches, means)
    return _table(steps, progress, signed=True)


def _table(
    steps: Iterable[HeadScores | None], progress: Callable[[int], object] | None, signed: bool = False
) -> HeadTable:
    """Consume the steps and return the last scores as a table; an interrupt keeps them, with a warning."""
    last: HeadScores | None = None
    try:
        for last in (scores for scores in steps if scores is not None):
            if progress is not None:
                progress(last.sentences)
    except KeyboardInterrupt:
        if last is None:
            raise
        warnings.warn(f"stopped after {last.sentences} sentences", stacklevel=3)
        return HeadTable(last, False, signed)
    assert last is not None  # an empty data set is refused
    return HeadTable(last, True, signed)


def _engine_for(model: Any, batches: Any, tokenizer: Any) -> Any:
    """The engine that ATTNVIZ_ENGINE names, if it can read these sentences as well as this process; else None."""
    if not isinstance(model, LoadedModel) or tokenizer is not None or not isinstance(batches, list | tuple):
        return None
    return remote_engine() if all(isinstance(sentence, str) for sentence in batches) else None
