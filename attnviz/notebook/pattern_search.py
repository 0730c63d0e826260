"""Which heads show which patterns over a data set, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import nn

from attnviz.experiments.heads import Batch, HeadPattern, ScoredRows, scan
from attnviz.models.catalogue import LoadedModel
from attnviz.notebook.head_table import HeadTable
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
    """
    found, complete = run_to_the_end(scan(model, batches, patterns, tokenizer, rows), progress)
    return HeadTable(found, complete)
