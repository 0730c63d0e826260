"""Engines run models: in this process, or on Ray, with the same results.

The engine that the setting names serves the whole process. Ray is imported only if it is named.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol

from attnviz.analysis.heads.removal_costs import HeadsHere, HeadWork
from attnviz.analysis.model_run import ModelRun, Request, run_model
from attnviz.base.message import Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.models.settings import EngineAddress, current_settings

Turn = Callable[[], AbstractContextManager[Any]]
#: passes in one process: at the same time, where more would only slow each other down; and that may wait, which is a
#: class of three hundred who all type at once, and some more
HERE_AT_ONCE: Final = 2
HERE_WAITING: Final = 400

_one_at_a_time: Final = threading.Lock()  #: else two first visitors would have an engine each


@dataclass(frozen=True)
class Rerun:
    """A second pass over a sentence with a change: `compute(run, loaded, *arguments)`.

    `compute` must be a module-level function, because another process imports it by name.
    """

    compute: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def __call__(self, run: ModelRun, loaded: LoadedModel) -> Any:
        """Run the model again, as the function does it."""
        return self.compute(run, loaded, *self.arguments)


class Engine(HeadWork, Protocol):
    """Runs models over sentences and measures heads.

    Every method may be called from any thread; errors are raised as a Problem.
    """

    @property
    def loads_here(self) -> bool:
        """Whether a pass needs its model in this process, so that a visitor is shown how it is loaded."""

    def expect(self, model: str) -> None:
        """Prepare for a pass of this model. Returns at once; errors appear in the pass itself."""

    def run(self, request: Request) -> ModelRun:
        """One pass of a model over a sentence."""

    def rerun(self, run: ModelRun, change: Rerun) -> Any:
        """Run the same sentence with a change; the result of the change's function."""


def remote_engine(turn: Turn = nullcontext) -> Engine | None:
    """The engine that ATTNVIZ_ENGINE names; None for this process. `turn` is entered before each pass."""
    address = current_settings().engine
    if address is None:
        return None
    with _one_at_a_time:
        return _on_ray(address, turn)


def passes_at_once() -> tuple[int, int]:
    """How many passes the engine makes at the same time, and how many more may wait."""
    try:
        address = current_settings().engine
    except Problem:
        address = None  # whoever asks for the engine hears of it
    if address is None:
        return HERE_AT_ONCE, HERE_WAITING
    return HERE_AT_ONCE * address.replicas[1], address.queue


@cache
def _on_ray(address: EngineAddress, turn: Turn) -> Engine:
    try:
        from attnviz.engine.on_ray import RayEngine  # here because nobody else has Ray installed
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] != "ray":
            raise
        raise Problem(
            "ATTNVIZ_ENGINE names Ray, which is not installed: pip install 'attnviz[cluster]' brings it"
        ) from None
    return RayEngine(address, turn)


class InProcess(HeadsHere):
    """An `Engine` that needs nothing else: it asks `models` for a model, then waits for its `turn`, then computes.

    In this order, so that whoever has a turn waits for nobody.
    """

    loads_here = True

    def __init__(
        self,
        models: Callable[[Request], LoadedModel],
        expect: Callable[[str], object] = lambda _model: None,
        turn: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        """`models` gives the model of a request in the very version that the request names, or raises a Problem."""
        self._models, self._expect, self._turn = models, expect, turn

    def expect(self, model: str) -> None:
        self._expect(model)

    def run(self, request: Request) -> ModelRun:
        loaded = self._models(request)
        with self._turn():
            return run_model(request, loaded)

    def rerun(self, run: ModelRun, change: Rerun) -> Any:
        loaded = self._models(run.request)
        with self._turn():
            return change(run, loaded)
