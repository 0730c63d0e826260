"""An `Engine` on Ray, on this machine or a cluster: one pass after the other by replicas, many sentences by tasks.

Whatever happens there, a visitor has an answer or a sentence within a time that is set."""

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Final, TypeVar

import ray
from ray import serve
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, ReplicaUnavailableError
from torch import Tensor

from attnviz.analysis.heads.removal_costs import head_costs
from attnviz.analysis.heads.scan import HeadScores, scan
from attnviz.analysis.model_run import ModelRun, Request
from attnviz.base.message import Problem
from attnviz.engine import Rerun
from attnviz.engine.on_ray import workers
from attnviz.engine.on_ray.workers import SHARD, PassReplica, model_key, unpack_answer, worker_environment
from attnviz.models.catalogue import LoadedModel
from attnviz.models.settings import EngineAddress

S = TypeVar("S")
TRIES = 2  #: a pass whose replica dies is asked for once more, of another one
APP: Final = "attnviz"  #: of Ray Serve: all processes of the app ask the same replicas
AT_ONCE: Final = 2  #: passes in one replica
KNOCK: Final = 5.0  #: seconds in which a cluster must take a connection
STORE: Final = 200 * 2**20  #: bytes of shared memory for answers, of a Ray on this machine
SPARE = 5.0  #: seconds beyond the limit after which not even Ray's own clock is waited for


class RayEngine:
    """Passes by replicas, which are found or started at the first question, or before it by `expect`."""

    loads_here = False

    def __init__(self, address: EngineAddress, turn: Callable[[], AbstractContextManager[Any]] = nullcontext) -> None:
        """`turn` is entered before each pass, because Ray's own queue shows no position."""
        self.address, self._turn = address, turn
        self._lock = threading.Lock()
        self._connected: Future[Any] | None = None
        self._let_go = threading.Event()

    def expect(self, model: str) -> None:
        self._connection()

    def run(self, request: Request) -> ModelRun:
        return self._ask("run", request)

    def rerun(self, run: ModelRun, change: Rerun) -> Any:
        return self._ask("rerun", run.request, change)

    def scan(
        self, loaded: LoadedModel, sentences: Sequence[str], patterns: Sequence[str]
    ) -> Iterator[HeadScores | None]:
        return self._steps(workers.grow_scores(self.address, scan, loaded, sentences, list(patterns)))

    def mean_steps(self, loaded: LoadedModel, sentences: Sequence[str]) -> Iterator[dict[str, Tensor] | None]:
        return self._steps(workers.mean_steps(self.address, loaded, sentences))

    def cost_steps(
        self, loaded: LoadedModel, sentences: Sequence[str], means: Mapping[str, Tensor] | None = None
    ) -> Iterator[HeadScores | None]:
        mean_outputs = None if means is None else dict(means)
        return self._steps(workers.grow_scores(self.address, head_costs, loaded, sentences, mean_outputs))

    def _steps(self, steps: Iterator[S]) -> Iterator[S]:
        """Yield results over the connection, made first; any error but a Problem means that it is lost."""
        handle = self._handle(time.monotonic() + self.address.timeout)
        try:
            yield from steps
        except Problem:
            raise
        except Exception as error:
            raise self._connection_lost(handle, error) from None

    def _ask(self, method: str, request: Request, *arguments: Any) -> Any:
        with self._turn():
            deadline = time.monotonic() + self.address.timeout
            handle = self._handle(deadline)
            future = _run_in_thread(lambda: self._answer(handle, deadline, method, request, *arguments))
            try:
                return unpack_answer(future.result(max(0.0, deadline - time.monotonic()) + SPARE))
            except TimeoutError:
                raise self._timed_out() from None

    def _answer(self, handle: Any, deadline: float, method: str, request: Request, *arguments: Any) -> Any:
        """A replica's response; errors on the way are raised as a Problem."""
        key = model_key(request.model, request.version)
        for _ in range(TRIES):
            response = None
            try:
                response = handle.options(method_name=method, multiplexed_model_id=key).remote(request, *arguments)
                return response.result(timeout_s=max(0.0, deadline - time.monotonic()))
            except BackPressureError:
                raise Problem(
                    "{n} passes are waiting for a model already; try again in a minute", n=self.address.queue
                ) from None
            except TimeoutError:
                if response is not None:
                    with suppress(Exception):
                        response.cancel()  # its place in the queue is free again
                raise self._timed_out() from None
            except (RayActorError, ReplicaUnavailableError) as error:
                _log(error)
            except RayTaskError as error:
                _log(error)
                raise Problem("The model failed where Ray runs it: {kind}", kind=type(error.cause).__name__) from None
            except Exception as error:  # a cluster that is gone shows itself in many ways
                raise self._connection_lost(handle, error) from None
        raise Problem("Two processes that read this sentence were lost one after the other; try again in a minute")

    def _connection(self) -> Future[Any]:
        """The connection's future; a new attempt if the last one failed."""
        with self._lock:
            connection = self._connected
            if connection is None or (connection.done() and connection.exception() is not None):
                self._let_go.set()
                let_go = self._let_go = threading.Event()
                # what Ray starts on this machine ends with the very thread that started it
                self._connected = connection = _run_in_thread(lambda: connect(self.address), let_go.wait)
            return connection

    def _handle(self, deadline: float) -> Any:
        try:
            return self._connection().result(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            raise Problem("Ray is still starting; try again in a minute") from None

    def _connection_lost(self, handle: Any, error: Exception) -> Problem:
        """Drop this handle's connection, unless it was replaced; the Problem to raise."""
        _log(error)
        with self._lock:
            connection = self._connected
            if (
                connection is not None
                and connection.done()
                and connection.exception() is None
                and connection.result() is handle
            ):
                self._connected = None
        return Problem("The connection to Ray was lost; try again in a minute")

    def _timed_out(self) -> Problem:
        return Problem("No answer came within {seconds} seconds; try again in a minute", seconds=self.address.timeout)


def _run_in_thread(work: Callable[[], Any], afterwards: Callable[[], object] = lambda: None) -> Future[Any]:
    """Run the work in a daemon thread of its own.

    `afterwards`, when it has succeeded, is called in the same thread.
    """
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        else:
            afterwards()

    threading.Thread(target=run, daemon=True).start()
    return future


def _log(error: Exception) -> None:
    """Log only the type of an error: Ray's messages may contain visitors' sentences."""
    logging.getLogger(__name__).warning("a pass on Ray ended with %s", type(error).__name__)


def connect(address: EngineAddress) -> Any:
    """A handle of the deployment, which is made where there is none. A Problem where no Ray answers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told that this runs
    # a cluster that goes away must not take the app with it, as Ray's own default does after a minute
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(10**6))
    if ray.is_initialized():
        ray.shutdown()  # of a connection that was lost
    try:
        _initialise(address)
        return _replica_handle(address)
    except (ConnectionError, OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        logging.getLogger(__name__).warning("no Ray at %s: %s", address.host, error)
        raise Problem("Ray at {host} does not answer, so no model can be run now", host=address.host) from error


def _initialise(address: EngineAddress) -> None:
    """Start a Ray on this machine, or find the one that the address names."""
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address.host == "local":
        if "RAY_AUTH_TOKEN_PATH" not in os.environ:  # a word that only this process and its children know
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        ray.init(
            address="local",
            num_cpus=address.cpus,
            resources={SHARD: address.cpus},
            include_dashboard=False,
            object_store_memory=STORE,
            **quiet,
        )
    elif address.host == "auto":
        ray.init(address="auto", **quiet)
    else:
        host, _, port = address.host.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), KNOCK).close()  # Ray's own client would try for long
        ray.init(f"ray://{address.host}", **quiet)


def _replica_handle(address: EngineAddress) -> Any:
    """Return the handle of the replicas; deploy them first where none run."""
    serve.start(proxy_location="Disabled")
    running = serve.status().applications.get(APP)
    if running is not None and running.status in ("RUNNING", "DEPLOYING"):
        return serve.get_app_handle(APP)
    gpus = address.gpus
    if gpus is None:
        gpus = 1.0 if ray.cluster_resources().get("GPU", 0) >= 1 else 0.0
    least, most = address.replicas
    deployment = serve.deployment(
        PassReplica,
        name="passes",
        max_ongoing_requests=AT_ONCE,
        max_queued_requests=address.queue,
        autoscaling_config={"min_replicas": least, "max_replicas": most, "target_ongoing_requests": 1},
        ray_actor_options={"num_cpus": address.threads, "num_gpus": gpus, "runtime_env": worker_environment(address)},
    )
    return serve.run(deployment.bind(), name=APP, route_prefix=None)
