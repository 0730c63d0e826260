"""Which heads show which patterns over a data set, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from attnviz.engine.chosen_engine import elsewhere
from attnviz.engine.engine_protocol import Engine
from attnviz.models.catalogue import LoadedModel
from attnviz.models.settings import current
from attnviz.notebook.head_table import HeadTable
from attnviz.runs.heads.batches import Batch
from attnviz.runs.heads.head_scores import HeadScores
from attnviz.runs.heads.removal_costs import head_costs
from attnviz.runs.heads.scan import HeadPattern, ScoredRows, scan


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


def cost_of_heads(
    model: nn.Module | LoadedModel,
    batches: Iterable[Batch] | Batch,
    means: Mapping[str, Tensor] | None = None,
    tokenizer: Any = None,
    keep: Path | str | None = None,
    progress: Callable[[int], object] | None = None,
) -> HeadTable:
    """How much the loss of the next token rises, in nats, when each head is silenced ("silenced") or, with `means` as
    `mean_outputs` makes them, replaced by its mean ("mean"); beside it what it adds to the right logit ("direct").

    `batches` as in `find_heads`; sentences of one length given as one tensor run faster. `keep` names a file (.npz)
    that holds what is done: a later call goes on from there. Interrupting returns what is done.

    Where ATTNVIZ_ENGINE names a Ray, a list of sentences for a model that `load` made is measured there in parts,
    unless `keep` names a file.
    """
    steps: Iterator[HeadScores]
    sentences = sentences_for_engine(model, batches, tokenizer)
    if sentences is not None and keep is None:
        assert isinstance(model, LoadedModel)
        steps = (each for each in heads_engine().cost_steps(model, sentences, means) if each is not None)
    else:
        steps = head_costs(model, batches, means, tokenizer, keep)
    found, complete = run_to_the_end(steps, progress)
    return HeadTable(found, complete, signed=True)


def run_to_the_end(scores: Iterable[HeadScores], progress: Callable[[int], object] | None) -> tuple[HeadScores, bool]:
    """The last of the scores, and whether they are complete: interrupting keeps what is done, with a warning."""
    found: HeadScores | None = None
    try:
        for found in scores:
            if progress is not None:
                progress(found.sentences)
    except KeyboardInterrupt:
        if found is None:
            raise
        warnings.warn(f"stopped after {found.sentences} sentences", stacklevel=3)
        return found, False
    assert found is not None  # an empty data set is refused
    return found, True


def sentences_for_engine(model: nn.Module | LoadedModel, batches: Any, tokenizer: Any) -> list[str] | None:
    """The sentences that another machine could read as well; None where it could not, or no other is named."""
    if current().engine is None or not isinstance(model, LoadedModel) or tokenizer is not None:
        return None
    if not isinstance(batches, list | tuple) or not all(isinstance(each, str) for each in batches):
        return None
    return list(batches)


def heads_engine() -> Engine:
    """The engine that ATTNVIZ_ENGINE names; asked for only where one is named."""
    found = elsewhere()
    assert found is not None
    return found
