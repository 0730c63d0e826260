"""Code of Ray's worker processes: Serve replicas run models, tasks measure heads over many sentences.

Each is known to a node by its name: attnviz is there. Sentences come in parts, each part to a task, and are put
together in their order, as one process does. Every sentence is a pass of its own, here as there, so that the numbers
are the same to the last bit at equal threads.
"""

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import ray
from ray import serve
from ray.exceptions import OutOfMemoryError, RayTaskError, WorkerCrashedError
from torch import Tensor

from attnviz.analysis.heads.removal_costs import HeadSums, mean_from_sums, output_sums
from attnviz.analysis.heads.scan import GrowingScores, HeadScores
from attnviz.analysis.model_run import ModelRun, Request, run_model
from attnviz.base.message import Message, Problem
from attnviz.engine import Rerun
from attnviz.models.capture import Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.models.settings import EngineAddress

MODELS = 3  #: that a replica holds; the one that was used longest ago goes first
RUNS = 4  #: that it remembers, because a visitor changes one thing after the other in the same sentence
UNCLAIMED = 60.0  #: seconds that it keeps a model whose askers have all left, for the next one
SHARD: Final = "attnviz_shard"  #: on this machine, what a task of many sentences takes in place of a processor
#: settings that must be the same on the other side; folders and devices are each machine's own
CARRIED: Final = ("ATTNVIZ_HOSTED", "ATTNVIZ_MODELS", "ATTNVIZ_TOKEN_LIMIT", "ATTNVIZ_DTYPE", "ATTNVIZ_HUB")
A_SHARD: Final = 4  #: sentences in one task: a worker that dies costs no more than these
LOOK: Final = 1.0  #: seconds between two steps of a caller who waits
PATIENCE: Final = 20  #: times the limit of one pass: so long nothing at all may come


def model_key(model: str, version: str) -> str:
    """By this Serve sends a request to a replica that has the model."""
    return f"{model}@{version}"


class PassReplica:
    """A model in its own process, whose passes run in threads so that it still answers Ray."""

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
            begun = self._loading[key] = asyncio.create_task(asyncio.to_thread(load_same_model, name, version))
            later = asyncio.get_running_loop().call_later
            begun.add_done_callback(lambda ended: later(UNCLAIMED, self._forget, key, ended))
        task = self._loading[key]
        try:
            return await asyncio.shield(task)
        finally:
            if task.done():
                self._loading.pop(key, None)

    def _forget(self, key: str, ended: asyncio.Task[LoadedModel]) -> None:
        """Drop a loaded model that no request used, unless another loading has its key."""
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
class SentTrace:
    """A serialised trace, and its run without the trace."""

    trace: bytes
    run: ModelRun | None = None


def to_send(make: Callable[[], Any]) -> Any:
    """The result of `make` in picklable form.

    A Problem becomes its Message, since a pickled exception would lose its values.
    """
    try:
        answer = make()
    except Problem as problem:
        return problem.message
    if isinstance(answer, ModelRun):
        return SentTrace(answer.trace.to_bytes(), replace(answer, trace=Trace(())))
    return SentTrace(answer.to_bytes()) if isinstance(answer, Trace) else answer


def unpack_answer(sent: Any) -> Any:
    """Undo `to_send`; a Message is raised as a Problem."""
    if isinstance(sent, Message):
        raise Problem(sent.template, **sent.params)
    if not isinstance(sent, SentTrace):
        return sent
    trace = Trace.from_bytes(sent.trace)
    return trace if sent.run is None else replace(sent.run, trace=trace)


def load_same_model(model: str, version: str) -> LoadedModel:
    """The model of this name; a Problem where its files are others than the app's."""
    loaded = load(model)
    if loaded.version != version:
        raise Problem("The files of {name} are not the same where Ray runs it", name=loaded.entry.name)
    return loaded


def worker_environment(address: EngineAddress) -> dict[str, dict[str, str]]:
    """Environment variables of a worker process."""
    carried = {name: os.environ[name] for name in CARRIED if name in os.environ}
    return {"env_vars": carried | {"OMP_NUM_THREADS": str(address.threads)}}


def mean_steps(
    address: EngineAddress, loaded: LoadedModel, sentences: Sequence[str]
) -> Iterator[dict[str, Tensor] | None]:
    """As `mean_outputs`, at the last step: the sums of single sentences are added up here, in their order."""
    sums: list[HeadSums] = []
    for shard_sums in _run_shards(address, _sums, loaded, sentences, None):
        sums.extend(shard_sums or ())
        yield None
    yield mean_from_sums(sums)


def grow_scores(
    address: EngineAddress, work: Any, loaded: LoadedModel, sentences: Sequence[str], argument: Any
) -> Iterator[HeadScores | None]:
    """The scores so far that `work`, which is `scan` or `head_costs`, finds; None for a second without any."""
    so_far = GrowingScores()
    for shard_scores in _run_shards(address, work, loaded, sentences, argument):
        if shard_scores is not None:
            so_far.add(shard_scores.places, shard_scores.names, dict(shard_scores.by_sentence))
        yield None if shard_scores is None else so_far.so_far()


def _run_shards(
    address: EngineAddress, work: Any, loaded: LoadedModel, sentences: Sequence[str], argument: Any
) -> Iterator[Any]:
    """Yield each shard's result in order, None after each second without one. Closing it cancels the rest."""
    if not sentences:
        raise Problem("there is no sentence to look at")
    resources: dict[str, Any] = {"num_cpus": address.threads, "num_gpus": address.gpus or 0}
    if address.host == "local":  # no processor there, so that a task and a replica never wait for each other for ever
        resources = {"num_cpus": 0, "resources": {SHARD: 1}}
    task = ray.remote(_run_shard).options(runtime_env=worker_environment(address), **resources)
    shared, folder = ray.put(argument), loaded.entry.folder
    # a folder by its whole path, for a shard may begin in another one
    model = loaded.entry.id if folder is None else str(folder.resolve())
    shards = [tuple(sentences[at : at + A_SHARD]) for at in range(0, len(sentences), A_SHARD)]
    tasks = [task.remote(work, model, loaded.version, shard, shared) for shard in shards]
    try:
        for number, pending in enumerate(tasks):
            deadline = time.monotonic() + PATIENCE * address.timeout
            while not ray.wait([pending], timeout=LOOK)[0]:
                if time.monotonic() > deadline:
                    raise Problem("No answer came within {seconds} seconds", seconds=PATIENCE * address.timeout)
                yield None
            yield unpack_answer(_fetch_result(pending, number, len(tasks), address.timeout))
    finally:
        for pending in tasks:
            with suppress(Exception):
                ray.cancel(pending, force=False)


def _fetch_result(task: Any, number: int, count: int, limit: float) -> Any:
    """The answer of a task that is done, fetched from wherever it lies.

    Where the part itself failed, or its process, the connection is as it was; any other error of Ray's passes through.
    """
    try:
        return ray.get(task, timeout=limit)
    except (RayTaskError, WorkerCrashedError, OutOfMemoryError) as error:
        raise Problem(
            "Part {number} of {count} failed where Ray runs it: {kind}",
            number=number + 1,
            count=count,
            kind=type(getattr(error, "cause", None) or error).__name__,
        ) from None


def _run_shard(work: Any, model: str, version: str, sentences: tuple[str, ...], argument: Any) -> Any:
    """Run one task: the last result of `work` on some sentences, or the Message of a Problem."""
    return to_send(lambda: list(work(_cached_model(model, version), list(sentences), argument))[-1])


def _sums(loaded: LoadedModel, sentences: list[str], _argument: Any) -> Iterator[list[HeadSums]]:
    yield list(output_sums(loaded, sentences))


@lru_cache(maxsize=1)
def _cached_model(model: str, version: str) -> LoadedModel:
    """Kept by the worker's process for its next task."""
    return load_same_model(model, version)
