"""Long work in a process of its own: nobody else on the server waits for it, and it waits for nobody.

A thread that trains or measures shares Python's lock with every visitor's page. torch's profiler holds that lock for a
second after a long run, and where the machine is busy, a thread that is put aside while it holds the lock stops all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import torch

from attnviz.base.message import Problem

PROGRAM = Path(__file__).parents[4]  #: the folder from which `attnviz` is imported


def results(module: str, *arguments: str) -> Generator[Any]:
    """What `python -m module arguments` reports, as plain data. Ends the other process when it is closed."""
    path = os.pathsep.join(filter(None, [str(PROGRAM), os.environ.get("PYTHONPATH")]))
    child = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(torch.get_num_threads())},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("{"):
                yield json.loads(line)
        if child.wait():
            raise Problem("the process that computes this ended early, with exit code {code}", code=child.returncode)
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def report(plain: Any) -> None:
    """Say one result to the process that listens."""
    sys.stdout.write(json.dumps(plain) + "\n")
    sys.stdout.flush()
