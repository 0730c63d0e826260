"""Run long work in a process of its own, so that it does not slow other visitors down.

A thread that trains or measures shares Python's lock with every visitor's page. torch's profiler holds that lock for a
second after a long run, and where the machine is busy, a thread that is put aside while it holds the lock stops all.
What the allocator keeps of it (gigabytes, after a long training) is gone with the process.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from attnviz.base.message import Problem

NICE = 10  #: of 19, the last to be served: pages that are opened during a training go first
PROGRAM = Path(__file__).parents[2]  #: the folder from which `attnviz` is imported


def results(module: ModuleType, work: str, config: Any, threads: int | None = None, nice: int = 0) -> Generator[Any]:
    """Yield the results of `module.work(config)`, computed in another process, which ends with this generator.

    The module has a `Config`, and its results' `to_json` and `from_json`. It has as many threads as this process, or
    `threads`: more than one add up sums in another order.
    """
    own_threads = torch.get_num_threads()
    arguments = module.__name__, work, json.dumps(asdict(config)), str(threads or own_threads), str(nice)
    path = os.pathsep.join(filter(None, [str(PROGRAM), os.environ.get("PYTHONPATH")]))
    child = subprocess.Popen(
        [sys.executable, "-m", __name__, *arguments],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(own_threads)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    try:
        for line in child.stdout:
            if line.startswith("{"):
                yield module.from_json(json.loads(line))
        if child.wait():
            raise Problem("the process that computes this ended early, with exit code {code}", code=child.returncode)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def main(module: str, work: str, config: str, threads: str, nice: str) -> None:
    """Report each partial result, a line each."""
    torch.set_num_threads(int(threads))
    if hasattr(os, "nice"):
        os.nice(int(nice))
    target = import_module(module)
    for result in getattr(target, work)(target.Config(**json.loads(config))):
        sys.stdout.write(json.dumps(target.to_json(result)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
