"""Passes in this process, by the models that it has loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import Tensor

from attnviz.engine.engine_protocol import Rerun
from attnviz.engine.reruns import run_rerun
from attnviz.experiments import heads
from attnviz.experiments.explorer import ModelRun, Request, run_model
from attnviz.experiments.heads import HeadScores
from attnviz.models.catalogue import LoadedModel


class InProcess:
    """An `Engine` that needs nothing else: it asks `models` for a model, then waits for a `slot`, then computes.

    In this order, so that whoever holds a slot waits for nobody.
    """

    loads_here = True

    def __init__(
        self,
        models: Callable[[Request], LoadedModel],
        expect: Callable[[str], object] = lambda _model: None,
        slot: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        """`models` gives the model of a request in the very version that the request names, or raises a Problem."""
        self._models, self._expect, self._slot = models, expect, slot

    def expect(self, model: str) -> None:
        self._expect(model)

    def run(self, request: Request) -> ModelRun:
        loaded = self._models(request)
        with self._slot():
            return run_model(request, loaded)

    def rerun(self, run: ModelRun, change: Rerun) -> Any:
        loaded = self._models(run.request)
        with self._slot():
            return run_rerun(run, loaded, change)

    def scan(self, loaded: LoadedModel, sentences: Sequence[str], patterns: Sequence[str]) -> Iterator[HeadScores]:
        return heads.scan(loaded, list(sentences), patterns)

    def mean_steps(self, loaded: LoadedModel, sentences: Sequence[str]) -> Iterator[dict[str, Tensor]]:
        yield heads.mean_outputs(loaded, list(sentences))

    def cost_steps(
        self, loaded: LoadedModel, sentences: Sequence[str], means: Mapping[str, Tensor] | None = None
    ) -> Iterator[HeadScores | None]:
        return heads.cost_steps(loaded, list(sentences), means)
