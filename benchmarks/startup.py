"""Measure startup: imports, and the first and second load of SmolLM2, each in its own process."""

import os
import subprocess
import sys
import tempfile

LOAD = """
import time
from transformers import AutoTokenizer, LlamaForCausalLM
from attnviz.models.loading.load_model import load
start = time.perf_counter()
load("smollm2-135m")
print(time.perf_counter() - start)
"""

STATES = """
import time
from attnviz.models.loading.locate import availabilities
start = time.perf_counter()
availabilities()
print(time.perf_counter() - start)
"""

IMPORT = """
import time
start = time.perf_counter()
{line}
print(time.perf_counter() - start)
"""


def report() -> str:
    """One line per measurement, with the files of the packages already in the system's file cache.

    Times of loads do not include imports.
    """
    imports = (
        "import attnviz",
        "import attnviz.models.loading.locate",
        "import torch",
        "import attnviz.models.capture.run",
        "from transformers import AutoTokenizer, LlamaForCausalLM",
    )
    lines = []
    for line in imports:
        _run(IMPORT.format(line=line), {})
        lines.append(f"{line}: {_run(IMPORT.format(line=line), {}):.2f} s")
    lines.append(f"states of all models, nothing downloaded: {_run(STATES, {}) * 1000:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        here = {"ATTNVIZ_CACHE": folder}
        lines.append(f"first load of SmolLM2, converted and checked: {_run(LOAD, here):.2f} s")
        lines.append(f"second load, from the cache: {min(_run(LOAD, here) for _ in range(3)):.2f} s (best of 3)")
    return "\n".join(lines)


def _run(code: str, environment: dict[str, str]) -> float:
    command, env = [sys.executable, "-c", code], os.environ | environment
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return float(done.stdout.split()[-1])
