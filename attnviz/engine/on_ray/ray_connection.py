"""The way to a Ray: started on this machine or found, with the deployment of replicas on it."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from typing import Any, Final

import ray
from ray import serve

from attnviz.base.message import Problem
from attnviz.engine.on_ray.pass_replica import PassReplica
from attnviz.models.settings import EngineAddress

APP: Final = "attnviz"  #: of Ray Serve: all processes of the app ask the same replicas
AT_ONCE: Final = 2  #: passes in one replica
KNOCK: Final = 5.0  #: seconds in which a cluster must take a connection
STORE: Final = 200 * 2**20  #: bytes of shared memory for answers, of a Ray on this machine
SHARD: Final = "attnviz_shard"  #: on this machine, what a task of many sentences takes in place of a processor
#: settings that must be the same on the other side; folders and devices are each machine's own
CARRIED: Final = ("ATTNVIZ_HOSTED", "ATTNVIZ_MODELS", "ATTNVIZ_TOKEN_LIMIT", "ATTNVIZ_DTYPE", "ATTNVIZ_HUB")


def connect(address: EngineAddress) -> Any:
    """A handle of the deployment, which is made where there is none. A Problem where no Ray answers."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told that this runs
    # a cluster that goes away must not take the app with it, as Ray's own default does after a minute
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(10**6))
    if ray.is_initialized():
        ray.shutdown()  # of a connection that was lost
    try:
        _initialise(address)
        return _handle(address)
    except (ConnectionError, OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        logging.getLogger(__name__).warning("no Ray at %s: %s", address.host, error)
        raise Problem("Ray at {host} does not answer, so no model can be run now", host=address.host) from error


def environment(address: EngineAddress) -> dict[str, dict[str, str]]:
    """What a process on the other side is started with."""
    carried = {name: os.environ[name] for name in CARRIED if name in os.environ}
    return {"env_vars": carried | {"OMP_NUM_THREADS": str(address.threads)}}


def _initialise(address: EngineAddress) -> None:
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


def _handle(address: EngineAddress) -> Any:
    serve.start(proxy_location="Disabled")
    found = serve.status().applications.get(APP)
    if found is not None and found.status in ("RUNNING", "DEPLOYING"):
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
        ray_actor_options={"num_cpus": address.threads, "num_gpus": gpus, "runtime_env": environment(address)},
    )
    return serve.run(deployment.bind(), name=APP, route_prefix=None)
