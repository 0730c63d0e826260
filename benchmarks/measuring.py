"""Measure the time and peak memory of a call, and describe the machine."""

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

from attnviz.core.roofline import processor_name


def peak_extra_bytes(call: Callable[[], object], device: str = "cpu") -> int:
    """Bytes by which memory rises at its peak while `call` runs and its result is still referenced.

    On a GPU this counts torch's allocations; on Linux it is the process's resident set, tracked by the kernel.
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
    Path("/proc/self/clear_refs").write_text("5")  # reset the recorded peak
    before = _status("VmRSS")
    held = call()
    peak = _status("VmHWM")
    del held
    return peak - before


def seconds(call: Callable[[], object], device: str = "cpu") -> float:
    """Seconds of one call: on a GPU, wall time until it has finished; else CPU time, which other load affects less."""
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
    """Seconds of each call after one warm-up, measured in turns so that a slow phase of the machine affects all."""
    for call in calls.values():
        call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(times):
        for name, call in calls.items():
            gc.collect()
            taken[name].append(seconds(call, device))
    return taken


def ratio(taken: list[float], to: list[float]) -> float:
    """Median over rounds of taken / to, each pair of times from the same round."""
    return statistics.median(mine / theirs for mine, theirs in zip(taken, to, strict=True))


def machine(device: str = "cpu") -> str:
    """One line that describes the machine the numbers were measured on."""
    where = f"{os.cpu_count()} CPU cores ({processor_name()}), {torch.get_num_threads()} torch threads"
    if device == "cuda":
        where = f"{torch.cuda.get_device_name()}, {where}"
    return f"{where}; {platform.system()}, Python {platform.python_version()}, torch {torch.__version__}"


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the kernel does not report {field}")
