"""Models, their runs over sentences, and what is computed from a run: shared by all visitors, bounded in bytes.

Each is made once, however many visitors ask at the same time. Threads wait for each other in one order
only, so that they cannot wait in a circle: a run may wait for its model, and whatever runs a model takes
its turn last, inside the cached computation. A thread whose turn it is asks the caches for nothing, and a
thread that waits for another's computation has no turn.
"""

import gc
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import streamlit as st

from attnviz.analysis.model_run import ModelRun, Request, has_stored_run, stored_run
from attnviz.app.cache.bounded_cache import BoundedCache, count_bytes, trim_memory
from attnviz.app.cache.waiting_line import WaitingLine, wait_for_another, wait_in_line
from attnviz.base.message import Message, Problem
from attnviz.base.words import translate_message
from attnviz.engine import Engine, InProcess, Rerun, passes_at_once, remote_engine
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load, version
from attnviz.models.settings import RUNS_MB, current_settings

T = TypeVar("T")
MODELS_LIMIT = 6 * 10**9  # bytes
TEXTS_LIMIT = 3 * 10**9  #: bytes of passes over long texts; the newest stays, however heavy it is
PARTS = {"runs": 5, "reruns": 3, "results": 1}  # of nine: how the memory of ATTNVIZ_RUNS_MB is shared out
BETWEEN_LOOKS = 0.1  # seconds between two updates of a model's progress bar
NOT_BEGUN = 0.0, Message("Loading the model…")


def limit(cache: str) -> int:
    """How many bytes this cache may hold."""
    try:
        together = current_settings().runs_bytes
    except Problem:  # said wherever a model is asked for
        together = RUNS_MB * 10**6
    return together * PARTS[cache] // sum(PARTS.values())


@dataclass
class ProcessCaches:
    """The caches and the line, which live as long as the process."""

    models: BoundedCache[LoadedModel] = field(
        default_factory=lambda: BoundedCache(
            MODELS_LIMIT, lambda loaded: sum(map(count_bytes, loaded.model.parameters())), _collect_evicted
        )
    )
    runs: BoundedCache[ModelRun] = field(
        default_factory=lambda: BoundedCache(limit("runs"), count_bytes, trim_memory, wait_for_another)
    )
    texts: BoundedCache[ModelRun] = field(
        default_factory=lambda: BoundedCache(TEXTS_LIMIT, count_bytes, trim_memory, wait_for_another)
    )
    reruns: BoundedCache[Any] = field(
        default_factory=lambda: BoundedCache(limit("reruns"), count_bytes, trim_memory, wait_for_another)
    )
    results: BoundedCache[Any] = field(default_factory=lambda: BoundedCache(limit("results"), count_bytes))
    line: WaitingLine = field(default_factory=lambda: WaitingLine(*passes_at_once()))
    long_line: WaitingLine = field(
        default_factory=lambda: WaitingLine(max(1, passes_at_once()[0] - 1), passes_at_once()[1])
    )
    loads_ahead: bool = True  #: whether a model is loaded for a sentence that may come after a kept one
    steps: dict[str, tuple[float, Message]] = field(default_factory=dict)  #: how far each model has been loaded

    @cached_property
    def engine(self) -> Engine:
        """The engine that runs the models: in this process or remote."""
        return remote_engine(wait_for_turn) or InProcess(_model_for, load_in_background, wait_for_turn)


def process_caches() -> ProcessCaches:
    """The one `ProcessCaches` of this process."""
    return _SHARED


def wait_for_turn() -> AbstractContextManager[None]:
    """Inside the block this thread may run a model; a visitor who must wait reads his place in the line."""
    return wait_in_line(process_caches().line)


@contextmanager
def wait_for_step() -> Iterator[None]:
    """Inside the block this thread may run one step of a long computation.

    Long computations together have one place fewer than there are. One is left for whoever typed a sentence: he waits
    for no long part. Who waits among the long ones holds no place.
    """
    with wait_in_line(process_caches().long_line), wait_for_turn():
        yield


def get_model(name: str) -> LoadedModel:
    """A loaded model. A visitor who asks while it is being loaded sees a progress bar."""
    loading = load_in_background(name)
    if not loading.done():
        _watch(name, loading)
    return loading.result()


def model_of_run(run: ModelRun) -> LoadedModel:
    """The model that made a run, to run it again; a Problem where its files were overwritten since."""
    request = run.request
    if _key(request) not in process_caches().models and version(request.model) != request.version:
        raise _overwritten_problem(run.name)  # before other files are loaded for nothing
    return _model_for(request, get_model)


def load_in_background(name: str) -> Future[LoadedModel]:
    """Load in the background, unless the model is here as it is on the disk; errors surface at the next request."""
    now = version(name)
    return process_caches().models.begin((name, now), lambda: _load_model(name, now))


def get_run(request: Request) -> ModelRun:
    """The run of a sentence through its model: from memory, from the disk, or computed now."""
    here = process_caches()
    request = replace(request, version=version(request.model))
    needed = here.engine.loads_here and _key(request) not in here.models
    if request not in here.runs and needed and not has_stored_run(request):
        get_model(request.model)  # the model first, so that this visitor sees its progress bar while it loads
    return here.runs.get(request, lambda: _run(request))


def run_in_memory(request: Request) -> ModelRun:
    """A run that is still in memory; LookupError when it is not. Can be called from any thread."""
    here = process_caches()
    run = (here.texts if request.limit else here.runs).find(request)
    if run is None:
        raise LookupError(request)
    return run


def cached_result(run: ModelRun, key: Hashable, make: Callable[[], T]) -> T:
    """A result computed from a run, once for all visitors. `make` must not ask these caches for anything."""
    return cast(T, process_caches().results.get((run.request, key), make))


def find_cached(run: ModelRun, key: Hashable) -> Any:
    """The result that `cached_result` has stored under this key, or None; nothing is computed."""
    return process_caches().results.find((run.request, key))


def rerun_cached(run: ModelRun, change: Rerun, key: Hashable = None) -> Any:
    """The sentence once more with something changed; only the last few results are kept.

    `key` where different changes have the same result; otherwise the change itself is the key.
    """
    here = process_caches()
    if here.engine.loads_here:
        model_of_run(run)  # first, so that this visitor sees its progress bar while it loads
    return here.reruns.get((run.request, key or change), lambda: here.engine.rerun(run, change))


def _key(request: Request) -> tuple[str, str]:
    return request.model, request.version


def _run(request: Request) -> ModelRun:
    here = process_caches()
    if not here.engine.loads_here or _key(request) not in here.models:
        run = stored_run(request)
        if run is not None:
            if here.loads_ahead:
                here.engine.expect(request.model)  # the visitor's next sentence will want it
            return run
    return here.engine.run(request)


def _model_for(
    request: Request, otherwise: Callable[[str], LoadedModel] = lambda name: load_in_background(name).result()
) -> LoadedModel:
    """The model of a request as it was when the request was made; `otherwise` gets it, waiting without a word."""
    loaded = process_caches().models.find(_key(request)) or otherwise(request.model)
    if loaded.version != request.version:
        raise _overwritten_problem(loaded.entry.name)
    return loaded


def _watch(name: str, loading: Future[LoadedModel]) -> None:
    """Show a progress bar until a model is loaded. The loading goes on if the visitor leaves meanwhile."""
    bar = st.empty()
    try:
        while not loading.done():
            share, message = process_caches().steps.get(name, NOT_BEGUN)
            # for a visitor who has left, Streamlit ends the run here
            bar.progress(min(1.0, max(0.0, share)), translate_message(message))
            wait([loading], timeout=BETWEEN_LOOKS)
    finally:
        bar.empty()


def _load_model(name: str, expected_version: str) -> LoadedModel:
    steps = process_caches().steps

    def progress(share: float, message: Message) -> None:
        steps[name] = share, message

    try:
        loaded = load(name, progress)
    finally:
        steps.pop(name, None)
    if loaded.version != expected_version:
        raise _overwritten_problem(loaded.entry.name)
    gc.collect()
    gc.freeze()  # Streamlit collects garbage after every run, and need not go through a model's many objects each time
    return loaded


def _overwritten_problem(name: str) -> Problem:
    return Problem("The files of {name} changed while they were being read; reload the page", name=name)


def _collect_evicted() -> None:
    """Free an evicted model: objects that were frozen and refer to each other would never be collected."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    trim_memory()


_SHARED = ProcessCaches()  # made as this module is imported: once, even if two visitors are the first at the same time
