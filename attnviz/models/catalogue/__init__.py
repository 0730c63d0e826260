"""The models that the app knows by name, the type of a loaded model, and the example sentences."""

from attnviz.models.catalogue.entries import CATALOGUE, allowed_entries, find
from attnviz.models.catalogue.entry import (
    EXAMPLES,
    NEW_TOKENS,
    Entry,
    Example,
    LoadedModel,
    ModelKind,
    Source,
    WeightsAre,
)

__all__ = [
    "CATALOGUE",
    "EXAMPLES",
    "NEW_TOKENS",
    "Entry",
    "Example",
    "LoadedModel",
    "ModelKind",
    "Source",
    "WeightsAre",
    "allowed_entries",
    "find",
]
