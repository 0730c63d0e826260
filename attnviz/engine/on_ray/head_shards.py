"""Many sentences in parts, each part by a task of Ray; put together in the order of the sentences, as one process does.

Every sentence is a pass of its own, here as there, so that the numbers are the same to the last bit at equal threads.
"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

import ray
from ray.exceptions import OutOfMemoryError, RayTaskError, WorkerCrashedError
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.engine.on_ray.pass_replica import loaded_as, received, to_send
from attnviz.models.catalogue import LoadedModel
from attnviz.models.settings import EngineAddress
from attnviz.runs.heads.removal_costs import HeadSums, mean_of, sums_of
from attnviz.runs.heads.scan import GrowingScores, HeadScores

SHARD: Final = "attnviz_shard"  #: on this machine, what a task of many sentences takes in place of a processor
#: settings that must be the same on the other side; folders and devices are each machine's own
CARRIED: Final = ("ATTNVIZ_HOSTED", "ATTNVIZ_MODELS", "ATTNVIZ_TOKEN_LIMIT", "ATTNVIZ_DTYPE", "ATTNVIZ_HUB")
A_SHARD: Final = 4  #: sentences in one task: a worker that dies costs no more than these
LOOK: Final = 1.0  #: seconds between two steps of a caller who waits
PATIENCE: Final = 20  #: times the limit of one pass: so long nothing at all may come


def environment(address: EngineAddress) -> dict[str, dict[str, str]]:
    """What a process on the other side is started with."""
    carried = {name: os.environ[name] for name in CARRIED if name in os.environ}
    return {"env_vars": carried | {"OMP_NUM_THREADS": str(address.threads)}}


def mean_steps(
    address: EngineAddress, loaded: LoadedModel, sentences: Sequence[str]
) -> Iterator[dict[str, Tensor] | None]:
    """As `mean_outputs`, at the last step: the sums of single sentences are added up here, in their order."""
    sums: list[HeadSums] = []
    for part in _answers(address, _sums, loaded, sentences, None):
        sums.extend(part or ())
        yield None
    yield mean_of(sums)


def grown(
    address: EngineAddress, work: Any, loaded: LoadedModel, sentences: Sequence[str], given: Any
) -> Iterator[HeadScores | None]:
    """The scores so far that `work`, which is `scan` or `head_costs`, finds; None for a second without any."""
    so_far = GrowingScores()
    for part in _answers(address, work, loaded, sentences, given):
        if part is not None:
            so_far.add(part.places, part.names, dict(part.by_sentence))
        yield None if part is None else so_far.so_far()


def _answers(
    address: EngineAddress, work: Any, loaded: LoadedModel, sentences: Sequence[str], given: Any
) -> Iterator[Any]:
    """What each shard answers, in order; None after each second without one. Leaving it frees what still runs."""
    if not sentences:
        raise Problem("there is no sentence to look at")
    takes: dict[str, Any] = {"num_cpus": address.threads, "num_gpus": address.gpus or 0}
    if address.host == "local":  # no processor there, so that a task and a replica never wait for each other for ever
        takes = {"num_cpus": 0, "resources": {SHARD: 1}}
    task = ray.remote(_shard).options(runtime_env=environment(address), **takes)
    shared, place = ray.put(given), loaded.entry.folder
    # a folder by its whole path, for a shard may begin in another one
    model = loaded.entry.id if place is None else str(place.resolve())
    shards = [tuple(sentences[at : at + A_SHARD]) for at in range(0, len(sentences), A_SHARD)]
    tasks = [task.remote(work, model, loaded.version, shard, shared) for shard in shards]
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


def _shard(work: Any, model: str, version: str, sentences: tuple[str, ...], given: Any) -> Any:
    """A task: what the work on some sentences finds in the end, or why it cannot be done."""
    return to_send(lambda: list(work(_kept(model, version), list(sentences), given))[-1])


def _sums(loaded: LoadedModel, sentences: list[str], _given: Any) -> Iterator[list[HeadSums]]:
    yield list(sums_of(loaded, sentences))


@lru_cache(maxsize=1)
def _kept(model: str, version: str) -> LoadedModel:
    """Kept by the worker's process for its next task."""
    return loaded_as(model, version)
