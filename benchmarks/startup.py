"""How long until there is something to see: imports, the first load of SmolLM2 and the second. A process each."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

LOAD = """
import time
import torch, transformers
from attnviz.models.sources import load
start = time.perf_counter()
load("smollm2-135m")
print(time.perf_counter() - start)
"""

IMPORT = """
import time
start = time.perf_counter()
import {name}
print(time.perf_counter() - start)
"""


def report() -> str:
    """A line for each, in seconds; the packages are in the system's file cache by then."""
    modules = ("attnviz", "torch", "attnviz.models.capture")
    lines = []
    for name in modules:
        _run(IMPORT.format(name=name), {})
        lines.append(f"import {name}: {_run(IMPORT.format(name=name), {}):.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        here = {"ATTNVIZ_CACHE": folder}
        lines.append(f"first load of SmolLM2, converted and checked: {_run(LOAD, here):.2f} s")
        lines.append(f"second load, from the cache: {min(_run(LOAD, here) for _ in range(3)):.2f} s (best of 3)")
    return "\n".join(lines)


def _run(code: str, environment: dict[str, str]) -> float:
    told = os.environ | environment
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=told)
    return float(done.stdout.split()[-1])
