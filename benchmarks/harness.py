"""What the benchmarks share: the app's server and a browser, time and memory of a call, the machine, and tables."""

import ctypes
import gc
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import torch
from playwright.sync_api import sync_playwright

from attnviz.core.costs import processor_name
from tests.browser.conftest import CHROMIUM, QUIET, ROOT, Server

Row = dict[str, str]


@contextmanager
def served(script: Path = ROOT / "app.py") -> Iterator[Server]:
    """A server for the app, or for another script, which ends with the block."""
    with tempfile.TemporaryDirectory() as folder, Server(script, Path(folder) / "log.txt") as server:
        yield server


@contextmanager
def chromium() -> Iterator[Any]:
    """A fresh browser, so that one page's leftovers do not slow down the next."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET) as browser:
        yield browser


def risen(act: Callable[[], object], pid: int | None = None) -> int:
    """Bytes by which a process's resident set, as the kernel tracks it, rises at its peak while `act` runs.

    Of this process where none is named; what `act` gives is still referenced.
    """
    if pid is None:
        pid = os.getpid()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
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
    return median(mine / theirs for mine, theirs in zip(taken, to, strict=True))


def machine() -> str:
    """One line that describes the machine the numbers were measured on, and how busy it is."""
    return (
        f"{os.cpu_count()} CPU cores ({processor_name()}), {torch.get_num_threads()} torch threads; "
        f"{platform.system()}, Python {platform.python_version()}, torch {torch.__version__}; "
        f"load {os.getloadavg()[0]:.1f}"
    )


def late(values: Iterable[float]) -> float:
    """The 95th percentile."""
    return quantiles(values, n=20, method="inclusive")[-1]


def size(nbytes: float) -> str:
    """A number of bytes as readable text."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6)):
        if nbytes >= scale:
            return f"{nbytes / scale:.1f} {unit}"
    return f"{nbytes / 1e3:.0f} KB"


def ms(value: float) -> str:
    return f"{value:,.0f} ms"


def times(mine: float, theirs: float) -> str:
    """`theirs` as a multiple of `mine`, as text."""
    share = theirs / mine
    return f"{share:.1f}x" if share < 10 else f"{share:,.0f}x"


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """A Markdown table, its first column aligned left; a row that lacks a column is empty there."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *([row.get(name, "") for name in head] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def row(what: str, budget: str, reached: str, holds: bool) -> Row:
    return {"what": what, "to reach": budget, "reached": reached, "": "met" if holds else "not met"}


def above(what: str, taken: float, empty: float, more: float) -> Row:
    """A time that may exceed an empty page's by so many milliseconds."""
    reached = f"{ms(taken)}: floor {taken - empty:+.0f}"
    return row(what, f"floor {empty:.0f} ms, +{more:.0f}", reached, taken <= empty + more)


def at_most(what: str, taken: float, most: float, said: Callable[[float], str]) -> Row:
    return row(what, said(most), said(taken), taken <= most)


def spread(what: str, taken: Sequence[float], middle: float, most: float) -> Row:
    """Many times, of which the median and the 95th percentile count. A trace without a frame holds nothing."""
    if len(taken) < 2:
        return row(what, f"{middle:g} and {most:g} ms", "not measured", holds=False)
    reached = f"{median(taken):.1f} and {late(taken):.1f} ms ({len(taken)} frames)"
    holds = median(taken) <= middle and late(taken) <= most
    return row(what, f"{middle:g} and {most:g} ms, median and 95%", reached, holds)
