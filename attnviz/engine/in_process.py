"""Passes in this process, by the models that it has loaded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from attnviz.engine.engine_protocol import Rerun
from attnviz.engine.reruns import run_rerun
from attnviz.experiments.explorer import ModelRun, Request, run_model
from attnviz.experiments.heads import HeadsHere
from attnviz.models.catalogue import LoadedModel


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
            return run_rerun(run, loaded, change)
