"""Which searches over heads can be shared out to a Ray: declared data only, a model by its name and sentences."""

from __future__ import annotations

from typing import Any

from torch import nn

from attnviz.engine.chosen_engine import elsewhere
from attnviz.engine.engine_protocol import Engine
from attnviz.models.catalogue import LoadedModel
from attnviz.models.settings import current


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
