"""Time and memory of a call, on the processor or on a GPU, and the machine that this was measured on."""

import gc
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnviz.base.message import Message
from attnviz.core.costs import processor_name

ENOUGH = 0.15  #: seconds after which a call has been repeated often enough


def fastest_round(call: Callable[[], Any], rounds: int, device: str = "cpu") -> float:
    """Seconds of the fastest round, on the clock that `MeasuredOn` names; a GPU is waited for."""
    clock = time.thread_time if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter
    durations: list[float] = []
    started = time.perf_counter()
    while len(durations) < rounds or (time.perf_counter() - started < ENOUGH and len(durations) < 50 * rounds):
        _wait(device)
        start = clock()
        result = call()
        _wait(device)
        durations.append(clock() - start)
        del result
        if time.perf_counter() - started > 10 * ENOUGH and len(durations) >= 2:
            break
    return max(min(durations), 1e-7)


def _wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize(device)


def peak_bytes(call: Callable[[], Any], device: str = "cpu") -> int:
    """Most bytes that `call` holds at once in tensors and work space, as torch itself records them."""
    gc.collect()
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        call()
        return torch.cuda.max_memory_allocated(device) - before
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        call()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        events = json.loads(path.read_text("utf-8"))["traceEvents"]
    memory = sorted((event["ts"], event["args"]["Bytes"]) for event in events if event.get("name") == "[memory]")
    return int(np.cumsum([nbytes for _when, nbytes in memory]).max(initial=0))


@dataclass(frozen=True)
class WayTiming:
    """Time and memory of one implementation at one length."""

    way: str
    n: int
    seconds: float  #: the fastest round
    nbytes: int  #: most that was allocated at once during one round, inputs and parameters not counted


def time_call(way: str, n: int, call: Callable[[], Any], rounds: int, device: str = "cpu") -> WayTiming:
    """Time a call and measure its peak memory, after one call that warms up."""
    call()
    return WayTiming(way, n, fastest_round(call, rounds, device), peak_bytes(call, device))


@dataclass(frozen=True)
class MeasuredOn:
    """The processor or GPU, CPU cores, torch version and torch's threads; with one thread, times are CPU times."""

    processor: str
    cores: int
    torch: str
    threads: int
    dtype: str = "float32"
    device: str = "cpu"

    @property
    def description(self) -> Message:
        """One line with all fields and the clock."""
        clock = Message("processor time") if self.threads == 1 and self.device == "cpu" else Message("wall time")
        return Message(
            "{processor}, cores: {cores}; torch {torch}, threads: {threads}, {dtype}, {clock}",
            {name: getattr(self, name) for name in ("processor", "cores", "torch", "threads", "dtype")}
            | {"clock": clock},
        )


def this_machine(dtype: str = "float32", device: str = "cpu") -> MeasuredOn:
    """The machine of this process."""
    name = processor_name() if device == "cpu" else torch.cuda.get_device_name(device)
    return MeasuredOn(name, os.cpu_count() or 1, torch.__version__, torch.get_num_threads(), dtype, device)
