"""Time and peak memory of one call, and the machine they were taken on."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch


def peak_extra_bytes(call: Callable[[], object], device: str = "cpu") -> int:
    """How far memory rises above where it stood while `call` runs, its result still held.

    On a GPU what torch allocated; on Linux the process's resident set, which the kernel tracks.
    """
    gc.collect()
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        held = call()
        torch.cuda.synchronize()
        del held
        return torch.cuda.max_memory_allocated() - before
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # start the peak again from here
    before = _status("VmRSS")
    held = call()
    peak = _status("VmHWM")
    del held
    return peak - before


def seconds(call: Callable[[], object], device: str = "cpu") -> float:
    """Time of one call: on a GPU by the clock, its work included; else CPU time, which neighbours disturb less."""
    clock = time.perf_counter if device == "cuda" else time.process_time
    if device == "cuda":
        torch.cuda.synchronize()
    start = clock()
    held = call()
    if device == "cuda":
        torch.cuda.synchronize()
    taken = clock() - start
    del held
    return taken


def rounds(calls: dict[str, Callable[[], object]], times: int, device: str = "cpu") -> dict[str, list[float]]:
    """Seconds of each call, taken in turns so that a slow spell of the machine hits all alike; one warm-up each."""
    for call in calls.values():
        call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(times):
        for name, call in calls.items():
            gc.collect()
            taken[name].append(seconds(call, device))
    return taken


def ratio(taken: list[float], to: list[float]) -> float:
    """Median over rounds of one call's time as a multiple of another's in the same round."""
    return statistics.median(mine / theirs for mine, theirs in zip(taken, to, strict=True))


def machine(device: str = "cpu") -> str:
    """One line that says what the numbers were taken on."""
    where = f"{os.cpu_count()} CPU cores ({_processor()}), {torch.get_num_threads()} torch threads"
    if device == "cuda":
        where = f"{torch.cuda.get_device_name()}, {where}"
    return f"{where}; {platform.system()}, Python {platform.python_version()}, torch {torch.__version__}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the kernel does not say {field}")
