"""A process of Ray Serve that holds models and makes passes. Its class is known to a node by name: attnviz is there."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ray import serve

from attnviz.base.message import Message, Problem
from attnviz.engine import Rerun
from attnviz.models.capture import Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.runs.model_run import ModelRun, Request, run_model

MODELS = 3  #: that a replica holds; the one that was used longest ago goes first
RUNS = 4  #: that it remembers, because a visitor changes one thing after the other in the same sentence
UNCLAIMED = 60.0  #: seconds that it keeps a model whose askers have all left, for the next one


def model_key(model: str, version: str) -> str:
    """By this Serve sends a request to a replica that has the model."""
    return f"{model}@{version}"


class PassReplica:
    """Passes run in threads, so that Ray hears from this process while one is under way."""

    def __init__(self) -> None:
        self._loading: dict[str, asyncio.Task[LoadedModel]] = {}
        self._runs: OrderedDict[Request, ModelRun] = OrderedDict()

    async def run(self, request: Request) -> Any:
        """One pass over a sentence."""
        return await self._answer(request, lambda loaded: self._run_of(request, loaded))

    async def rerun(self, request: Request, change: Rerun) -> Any:
        """The same sentence with something changed."""
        return await self._answer(request, lambda loaded: change(self._run_of(request, loaded), loaded))

    @serve.multiplexed(max_num_models_per_replica=MODELS)
    async def model(self, key: str) -> LoadedModel:
        """A model by its key. Loading goes on when whoever asked for it has left."""
        if key not in self._loading:
            name, _, version = key.rpartition("@")
            begun = self._loading[key] = asyncio.create_task(asyncio.to_thread(loaded_as, name, version))
            later = asyncio.get_running_loop().call_later
            begun.add_done_callback(lambda ended: later(UNCLAIMED, self._forget, key, ended))
        task = self._loading[key]
        try:
            return await asyncio.shield(task)
        finally:
            if task.done():
                self._loading.pop(key, None)

    def _forget(self, key: str, ended: asyncio.Task[LoadedModel]) -> None:
        """Let go of a model that nobody took; by now another loading may have its key."""
        if self._loading.get(key) is ended:
            del self._loading[key]

    async def _answer(self, request: Request, make: Callable[[LoadedModel], Any]) -> Any:
        try:
            loaded = await self.model(model_key(request.model, request.version))
        except Problem as problem:
            return problem.message
        return await asyncio.to_thread(to_send, lambda: make(loaded))

    def _run_of(self, request: Request, loaded: LoadedModel) -> ModelRun:
        run = self._runs.pop(request, None) or run_model(request, loaded)
        self._runs[request] = run  # anew, so that the one used longest ago stands first
        while len(self._runs) > RUNS:
            self._runs.popitem(last=False)
        return run


@dataclass(frozen=True)
class Sent:
    """A trace, and the run without it that it is of."""

    trace: bytes
    run: ModelRun | None = None


def to_send(make: Callable[[], Any]) -> Any:
    """What `make` answers in a form that travels; of a Problem its Message: an exception would lose its values."""
    try:
        answer = make()
    except Problem as problem:
        return problem.message
    if isinstance(answer, ModelRun):
        return Sent(answer.trace.to_bytes(), replace(answer, trace=Trace(())))
    return Sent(answer.to_bytes()) if isinstance(answer, Trace) else answer


def received(sent: Any) -> Any:
    """The answer as it was; a refusal is raised."""
    if isinstance(sent, Message):
        raise Problem(sent.template, **sent.params)
    if not isinstance(sent, Sent):
        return sent
    trace = Trace.from_bytes(sent.trace)
    return trace if sent.run is None else replace(sent.run, trace=trace)


def loaded_as(model: str, version: str) -> LoadedModel:
    """The model of this name; a Problem where its files are others than the app's."""
    loaded = load(model)
    if loaded.version != version:
        raise Problem("The files of {name} are not the same where Ray runs it", name=loaded.entry.name)
    return loaded
