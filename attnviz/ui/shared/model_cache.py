"""Models and readings that all visitors share: each made once, bounded in bytes, never computed twice at a time."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import streamlit as st

from attnviz.core.message import Message, Problem
from attnviz.experiments.explorer import Reading, Request, read, read_earlier
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.ui.shared.bounded_cache import Memory
from attnviz.words import _, say

MODELS_LIMIT = 6 * 10**9  # bytes
READINGS_LIMIT = 512 * 10**6
AT_ONCE = 2  # passes through models at the same time: more only make everyone wait


@dataclass
class Shared:
    """What lives as long as the process."""

    models: Memory[LoadedModel] = field(default_factory=lambda: Memory(MODELS_LIMIT, _model_bytes))
    readings: Memory[Reading] = field(default_factory=lambda: Memory(READINGS_LIMIT, lambda r: r.nbytes))
    turns: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE))


@functools.cache
def shared() -> Shared:
    """The one instance for this process."""
    return Shared()


def model(name: str) -> LoadedModel:
    """A model, loaded with a progress bar the first time anyone asks for it."""
    memory = shared().models
    if name in memory:
        return memory.get(name, lambda: load(name))
    bar = st.progress(0.0, _("Loading the model…"))

    def show(share: float, message: Message | None = None) -> None:
        bar.progress(min(1.0, max(0.0, share)), say(message) if message is not None else _("Loading the model…"))

    try:
        return memory.get(name, lambda: _loaded(name, show))
    finally:
        bar.empty()


def preload(name: str) -> None:
    """Load a model before anyone asks: no progress bar, nobody is watching."""
    shared().models.get(name, lambda: _loaded(name))


def reading(request: Request) -> Reading:
    """The sentence as the model reads it: from memory, from a prepared trace, or by one pass now."""
    return shared().readings.get(request, lambda: _read(request))


def remembered(request: Request) -> Reading:
    """A reading that is still in memory; LookupError when it is not. May be asked from any thread."""
    found = shared().readings.peek(request)
    if found is None:
        raise LookupError(request)
    return found


def _read(request: Request) -> Reading:
    if request.model not in shared().models:
        earlier = read_earlier(request, lambda: model(request.model))
        if earlier is not None:
            threading.Thread(target=_preload_quietly, args=(request.model,), daemon=True).start()
            return earlier
    loaded = model(request.model)
    with shared().turns:
        return read(request, loaded)


def _preload_quietly(name: str) -> None:
    """Beside the first look at an example: the next sentence will want the model. A failure is said then."""
    with suppress(Problem):
        preload(name)


def _loaded(name: str, progress: Callable[..., None] | None = None) -> LoadedModel:
    gc.unfreeze()
    loaded = load(name, progress)
    gc.collect()
    gc.freeze()  # a model is millions of objects that no collection needs to look at again
    return loaded


def _model_bytes(loaded: LoadedModel) -> int:
    return sum(p.nbytes for p in loaded.model.parameters())
