"""Measure the time and peak memory of a call, and describe the machine."""

import ctypes
import gc
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from attnviz.core.costs import processor_name


def peak_extra_bytes(call: Callable[[], object]) -> int:
    """Bytes by which this process's memory rises at its peak while `call` runs and its result is still referenced."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return risen(os.getpid(), call)


def risen(pid: int, act: Callable[[], object]) -> int:
    """Bytes by which a process's resident set, as the kernel tracks it, rises at its peak while `act` runs."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # reset the recorded peak
    before = memory(pid, "VmRSS")
    held = act()
    peak = memory(pid, "VmHWM")
    del held
    return peak - before


def memory(pid: int, field: str) -> int:
    """Memory of a process in bytes, as the kernel reports it: VmRSS is the current value, VmHWM the peak."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the kernel does not report {field}")


def seconds(call: Callable[[], object]) -> float:
    """Seconds of CPU time of one call, which other load affects less than wall-clock time."""
    start = time.process_time()
    held = call()
    taken = time.process_time() - start
    del held
    return taken


def rounds(calls: dict[str, Callable[[], object]], times: int) -> dict[str, list[float]]:
    """Seconds of each call after one warm-up, measured in turns so that a slow phase of the machine affects all."""
    for call in calls.values():
        call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(times):
        for name, call in calls.items():
            gc.collect()
            taken[name].append(seconds(call))
    return taken


def ratio(taken: list[float], to: list[float]) -> float:
    """Median over rounds of taken / to, each pair of times from the same round."""
    return statistics.median(mine / theirs for mine, theirs in zip(taken, to, strict=True))


def machine() -> str:
    """One line that describes the machine the numbers were measured on, and how busy it is."""
    return (
        f"{os.cpu_count()} CPU cores ({processor_name()}), {torch.get_num_threads()} torch threads; "
        f"{platform.system()}, Python {platform.python_version()}, torch {torch.__version__}; "
        f"load {os.getloadavg()[0]:.1f}"
    )
