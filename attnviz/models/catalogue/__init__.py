"""The models that the app knows by name, the type of a loaded model, and the example sentences."""

from attnviz.models.catalogue.entries import CATALOGUE
from attnviz.models.catalogue.entry import Entry, LoadedModel, ModelKind, Source
from attnviz.models.catalogue.example_sentences import EXAMPLES, Example
from attnviz.models.catalogue.lookup import allowed_entries, find

__all__ = ["CATALOGUE", "EXAMPLES", "Entry", "Example", "LoadedModel", "ModelKind", "Source", "allowed_entries", "find"]
