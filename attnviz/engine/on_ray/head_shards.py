"""Many sentences in parts, each part by a task of Ray; put together in the order of the sentences, as one process does.

Every sentence is a pass of its own, here as there, so that the numbers are the same to the last bit at equal threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

import ray
from ray.exceptions import OutOfMemoryError, RayTaskError, WorkerCrashedError
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.engine.on_ray.pass_replica import loaded_as, received, to_send
from attnviz.engine.on_ray.ray_connection import SHARD, environment
from attnviz.models.catalogue import LoadedModel
from attnviz.models.settings import EngineAddress
from attnviz.runs.heads.head_scores import GrowingScores, HeadScores, HeadSums, mean_of, sums_of
from attnviz.runs.heads.removal_costs import head_costs
from attnviz.runs.heads.scan import scan as whole_scan

A_SHARD: Final = 4  #: sentences in one task: a worker that dies costs no more than these
LOOK: Final = 1.0  #: seconds between two steps of a caller who waits
PATIENCE: Final = 20  #: times the limit of one pass: so long nothing at all may come


def scan(
    address: EngineAddress, loaded: LoadedModel, sentences: Sequence[str], patterns: Sequence[str]
) -> Iterator[HeadScores | None]:
    """As `scan`, but several sentences at a step; None for a second without any."""
    return _grown(address, _scores, loaded, sentences, list(patterns))


def cost_steps(
    address: EngineAddress, loaded: LoadedModel, sentences: Sequence[str], means: Mapping[str, Tensor] | None
) -> Iterator[HeadScores | None]:
    """As `cost_steps`; a step on the way is a second."""
    return _grown(address, _costs, loaded, sentences, None if means is None else dict(means))


def mean_steps(
    address: EngineAddress, loaded: LoadedModel, sentences: Sequence[str]
) -> Iterator[dict[str, Tensor] | None]:
    """As `mean_outputs`, at the last step: the sums of single sentences are added up here, in their order."""
    sums: list[HeadSums] = []
    for part in _answers(address, _sums, loaded, sentences, None):
        sums.extend(part or ())
        yield None
    yield mean_of(sums)


def _grown(
    address: EngineAddress, work: Any, loaded: LoadedModel, sentences: Sequence[str], told: Any
) -> Iterator[HeadScores | None]:
    found = GrowingScores()
    for scores in _answers(address, work, loaded, sentences, told):
        if scores is None:
            yield None
        else:
            found.add(scores.places, scores.names, dict(scores.by_sentence))
            yield found.so_far()


def _answers(
    address: EngineAddress, work: Any, loaded: LoadedModel, sentences: Sequence[str], told: Any
) -> Iterator[Any]:
    """What each shard answers, in order; None after each second without one. Leaving it frees what still runs."""
    if not sentences:
        raise Problem("there is no sentence to look at")
    task = ray.remote(_shard).options(runtime_env=environment(address), **_takes(address))
    given = ray.put(told)
    shards = [tuple(sentences[at : at + A_SHARD]) for at in range(0, len(sentences), A_SHARD)]
    tasks = [task.remote(work, _place(loaded), loaded.version, shard, given) for shard in shards]
    try:
        for number, each in enumerate(tasks):
            ends = time.monotonic() + PATIENCE * address.timeout
            while not ray.wait([each], timeout=LOOK)[0]:
                if time.monotonic() > ends:
                    raise Problem("No answer came within {seconds} seconds", seconds=PATIENCE * address.timeout)
                yield None
            yield received(_of_task(each, number, len(tasks), address.timeout))
    finally:
        for each in tasks:
            with suppress(Exception):
                ray.cancel(each, force=False)


def _place(loaded: LoadedModel) -> str:
    """Where a shard finds the model: a folder by its whole path, for a shard may begin in another one."""
    entry = loaded.entry
    return entry.id if entry.folder is None else str(entry.folder.resolve())


def _of_task(task: Any, number: int, count: int, limit: float) -> Any:
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


def _takes(address: EngineAddress) -> dict[str, Any]:
    """On a machine of its own a task takes no processor from replicas, so that neither waits for the other for ever."""
    if address.host == "local":
        return {"num_cpus": 0, "resources": {SHARD: 1}}
    return {"num_cpus": address.threads, "num_gpus": address.gpus or 0}


def _shard(work: Any, model: str, version: str, sentences: tuple[str, ...], told: Any) -> Any:
    """A task: the work on some sentences, or why it cannot be done."""
    return to_send(lambda: work(_kept(model, version), list(sentences), told))


def _scores(loaded: LoadedModel, sentences: list[str], patterns: Any) -> HeadScores:
    *_, last = whole_scan(loaded, list(sentences), patterns)
    return last


def _costs(loaded: LoadedModel, sentences: list[str], means: Any) -> HeadScores:
    *_, last = head_costs(loaded, list(sentences), means)
    return last


def _sums(loaded: LoadedModel, sentences: list[str], _told: Any) -> list[HeadSums]:
    return list(sums_of(loaded, list(sentences)))


@lru_cache(maxsize=1)
def _kept(model: str, version: str) -> LoadedModel:
    """Kept by the worker's process for its next task."""
    return loaded_as(model, version)
