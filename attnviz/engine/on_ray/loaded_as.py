"""A model on the other side, only if it is the one that the app means."""

from __future__ import annotations

from attnviz.core.message import Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load


def loaded_as(model: str, version: str) -> LoadedModel:
    """The model of this name; a Problem where its files are others than the app's."""
    loaded = load(model)
    if loaded.version != version:
        raise Problem("The files of {name} are not the same where Ray runs it", name=loaded.entry.name)
    return loaded
