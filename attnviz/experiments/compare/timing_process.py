"""Measuring in a process of its own: nobody else on the server waits for it, and it waits for nobody.

torch's profiler holds Python's lock for a second after each long run, which would stop every visitor's page.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path

import torch

from attnviz.core.message import Problem
from attnviz.experiments.compare import layer_timing

PROGRAM = Path(__file__).parents[3]  #: the folder from which `attnviz` is imported


def measure(config: layer_timing.Config) -> Generator[layer_timing.Result]:
    """`layer_timing.measure` elsewhere, with as many threads as here. Ends the other process when it is closed."""
    layer_timing.check(config)
    threads = str(torch.get_num_threads())
    path = os.pathsep.join(filter(None, [str(PROGRAM), os.environ.get("PYTHONPATH")]))
    child = subprocess.Popen(
        [sys.executable, "-m", __name__, json.dumps(asdict(config)), threads],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": threads},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    result = None
    try:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("{"):
                held = json.loads(line)
                result = layer_timing.from_json(held, of=held["of"])
                yield result
        if child.wait() or result is None or not result.complete:
            raise Problem("the process that measures ended early, with exit code {code}", code=child.returncode)
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def main(config: str, threads: str) -> None:
    """Print a line of JSON for each partial result."""
    torch.set_num_threads(int(threads))
    for result in layer_timing.measure(layer_timing.Config(**json.loads(config))):
        line = json.dumps({**layer_timing.to_json(result), "of": result.of})
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
