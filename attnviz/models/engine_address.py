"""Where passes through models are made, as ATTNVIZ_ENGINE says it: nothing, or an address of Ray with its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from attnviz.base.message import Problem

HERE: Final = ("", "here")  #: values that mean this process
MOST: Final = 10**6


@dataclass(frozen=True)
class EngineAddress:
    """A Ray and what may be asked of it. "local" starts one on this machine; "auto" is the one that this machine is
    part of; anything else is the host and port of a cluster's client server.
    """

    host: str
    replicas: tuple[int, int] = (1, 2)  #: fewest and most processes that hold models; between them, as work demands
    queue: int = 32  #: passes that may wait at each process of the app; one more is refused
    timeout: int = 60  #: seconds after which a visitor is told that no answer came
    cpus: int = 2  #: processors that a Ray on this machine may use
    threads: int = 1  #: of arithmetic in each replica
    gpus: float | None = None  #: of each replica; None: one where the cluster has any


def parsed(value: str) -> EngineAddress | None:
    """The address that a setting's value stands for; None for this process. Nonsense is a Problem."""
    if value in HERE:
        return None
    try:
        parts = urlsplit("ray://local" if value == "ray" else value)
        port = parts.port
    except ValueError:
        raise _unknown(value) from None
    if parts.scheme != "ray" or not parts.hostname or parts.path or parts.fragment or parts.username is not None:
        raise _unknown(value)
    if (port is None) != (parts.hostname in ("local", "auto")):
        raise _unknown(value)
    told = parse_qsl(parts.query, keep_blank_values=True)
    fields = dict(_field(value, name, number) for name, number in told)
    return EngineAddress(parts.netloc, **fields)  # type: ignore[arg-type]


def _field(value: str, name: str, told: str) -> tuple[str, object]:
    try:
        if name == "replicas":
            least, _, most = told.partition("-")
            pair = _whole(least), _whole(most or least)
            if pair[0] <= pair[1]:
                return name, pair
        elif name in ("queue", "timeout", "cpus", "threads"):
            return name, _whole(told)
        elif name == "gpus" and 0 <= float(told) <= MOST:
            return name, float(told)
    except ValueError:
        pass
    raise Problem(
        "ATTNVIZ_ENGINE={value}: {name}={told} is not understood; there are replicas=1-4, queue=32, timeout=60, "
        "cpus=2, threads=1 and gpus=0.5",
        value=value,
        name=name,
        told=told,
    )


def _whole(told: str) -> int:
    if not (told.isascii() and told.isdecimal() and len(told) < 8 and 0 < int(told) <= MOST):
        raise ValueError(told)
    return int(told)


def _unknown(value: str) -> Problem:
    return Problem(
        "ATTNVIZ_ENGINE={value} must be here, ray, ray://local, ray://auto or ray://host:port, with ?replicas=1-4 and "
        "others behind it",
        value=value,
    )
