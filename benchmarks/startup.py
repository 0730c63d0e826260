"""Measure startup: imports, and the first and second load of SmolLM2, each in its own process."""

import os
import subprocess
import sys
import tempfile

#: what is imported first and not counted, and what is timed
TIMED = """
{before}
import time
start = time.perf_counter()
{timed}
print(time.perf_counter() - start)
"""
IMPORTS = (
    "import attnviz",
    "import attnviz.models.loading.locate",
    "import torch",
    "import attnviz.models.capture.run",
    "from transformers import AutoTokenizer, LlamaForCausalLM",
)
LOADER = "from transformers import AutoTokenizer, LlamaForCausalLM\nfrom attnviz.models.loading.load_model import load"


def report() -> str:
    """One line per measurement, with the files of the packages already in the system's file cache."""
    lines = [f"{line}: {min(seconds(line) for _ in range(2)):.2f} s" for line in IMPORTS]
    states = seconds("availabilities()", "from attnviz.models.loading.locate import availabilities")
    lines.append(f"states of all models, nothing downloaded: {states * 1000:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        first, *later = (seconds("load('smollm2-135m')", LOADER, ATTNVIZ_CACHE=folder) for _ in range(4))
    lines.append(f"first load of SmolLM2, converted and checked: {first:.2f} s")
    lines.append(f"second load, from the cache: {min(later):.2f} s (best of 3)")
    return "\n".join(lines)


def seconds(timed: str, before: str = "", **environment: str) -> float:
    code = TIMED.format(before=before, timed=timed)
    command, env = [sys.executable, "-c", code], os.environ | environment
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return float(done.stdout.split()[-1])
