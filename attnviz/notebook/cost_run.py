"""How much the loss on a data set rises without each head, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from attnviz.experiments.heads import Batch, HeadScores, head_costs
from attnviz.models.catalogue import LoadedModel
from attnviz.notebook.head_table import HeadTable
from attnviz.notebook.shared_out import heads_engine, sentences_for_engine
from attnviz.notebook.to_the_end import run_to_the_end


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
