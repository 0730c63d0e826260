"""Waiting at several servers with one line before them: a formula, and a simulation by another way to hold it to.

Arrivals and services are taken as random without memory (M/M/c). Passes over sentences of like length take like times,
so that real waits are shorter: the formula is on the careful side.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable


def share_that_waits(servers: int, load: float) -> float:
    """Erlang's C: the share of arrivals that find every server busy; `load` is arrivals a service time."""
    if load >= servers:
        return 1.0
    blocked = 1.0  # Erlang's B, from no server upwards, which neither overflows nor loses digits
    for count in range(1, servers + 1):
        blocked = load * blocked / (count + load * blocked)
    busy = load / servers
    return blocked / (1 - busy + busy * blocked)


def wait_quantile(servers: int, a_second: float, service: float, quantile: float = 0.95) -> float:
    """Seconds that this share of arrivals waits at most; infinite where more arrives than is served."""
    load = a_second * service
    if load >= servers:
        return math.inf
    waits = share_that_waits(servers, load)
    if waits <= 1 - quantile:
        return 0.0
    return math.log(waits / (1 - quantile)) * service / (servers - load)


def servers_needed(a_second: float, service: float, within: float, quantile: float = 0.95) -> int:
    """The fewest servers at which this share of arrivals has waited and been served `within` so many seconds."""
    servers = max(1, math.ceil(a_second * service))
    while wait_quantile(servers, a_second, service, quantile) + service > within:
        if service > within:
            raise ValueError(f"{service=} alone is longer than {within=}")
        servers += 1
    return servers


def simulated_waits(
    servers: int, a_second: float, service_of: Callable[[random.Random], float], arrivals: int, seed: int = 0
) -> list[float]:
    """Seconds that each of so many arrivals waited, one after the other, who comes first being served first."""
    chance = random.Random(seed)
    free_at = [0.0] * servers
    now, waits = 0.0, []
    for _ in range(arrivals):
        now += chance.expovariate(a_second)
        begins = max(now, heapq.heappop(free_at))
        waits.append(begins - now)
        heapq.heappush(free_at, begins + service_of(chance))
    return waits
