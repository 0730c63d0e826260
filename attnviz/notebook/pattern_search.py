"""Which heads show which patterns over a data set, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch import nn

from attnviz.experiments.heads import Batch, HeadPattern, HeadScores, ScoredRows, scan
from attnviz.models.catalogue import LoadedModel
from attnviz.notebook.head_table import HeadTable
from attnviz.notebook.shared_out import heads_engine, sentences_for_engine
from attnviz.notebook.to_the_end import run_to_the_end


def find_heads(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    patterns: Sequence[HeadPattern] = ("previous_token", "induction", "duplicate_token"),
    tokenizer: Any = None,
    progress: Callable[[int], object] | None = None,
    rows: ScoredRows = "with targets",
) -> HeadTable:
    """How strongly every head shows each pattern, over all sentences of `batches`.

    `batches` are sentences, files of one sentence a line, token ids, or a model's inputs as dictionaries, in a list or
    from a generator. A pattern is a name or a function of the token ids (T,) that marks the keys of each query,
    (T, T). `progress` is called with the number of sentences done. Interrupting (Ctrl-C, or the stop button of a
    notebook) returns what is done; its `.complete` is then False.

    Where ATTNVIZ_ENGINE names a Ray, a list of sentences for a model that `load` made is read there in parts, if the
    patterns are names; everything else is read in this process.
    """
    wanted: list[HeadPattern] = [patterns] if isinstance(patterns, str) else list(patterns)
    sentences, names = sentences_for_engine(model, batches, tokenizer), _names(wanted)
    steps: Iterator[HeadScores | None]
    if sentences is not None and names is not None and rows == "with targets":
        assert isinstance(model, LoadedModel)
        steps = heads_engine().scan(model, sentences, names)
    else:
        steps = scan(model, batches, wanted, tokenizer, rows)
    found, complete = run_to_the_end((each for each in steps if each is not None), progress)
    return HeadTable(found, complete)


def _names(patterns: list[HeadPattern]) -> list[str] | None:
    """The patterns, where all are names; a function stays in this process."""
    named = [each for each in patterns if isinstance(each, str)]
    return named if len(named) == len(patterns) else None
