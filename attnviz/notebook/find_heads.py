"""Which heads show which patterns over a data set, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import nn

from attnviz.experiments.heads import Batch, HeadPattern, HeadScores, ScoredRows, scan
from attnviz.models.catalogue import LoadedModel
from attnviz.notebook.head_table import HeadTable


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
    found: HeadScores | None = None
    try:
        for found in scan(model, batches, patterns, tokenizer, rows):
            if progress is not None:
                progress(found.sentences)
    except KeyboardInterrupt:
        if found is None:
            raise
        warnings.warn(f"stopped after {found.sentences} sentences", stacklevel=2)
        return HeadTable(found, complete=False)
    assert found is not None  # scan refuses an empty data set
    return HeadTable(found)
