"""Long work in a process of its own: nobody else on the server waits for it, and it waits for nobody.

A thread that trains or measures shares Python's lock with every visitor's page. torch's profiler holds that lock for a
second after a long run, and where the machine is busy, a thread that is put aside while it holds the lock stops all.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import torch

from attnviz.base.message import Problem
from attnviz.pages.compare.maths import layer_timing, reach_training

R = TypeVar("R")
NICE = 10  #: of 19, the last to be served: pages that are opened during a training go first
PROGRAM = Path(__file__).parents[4]  #: the folder from which `attnviz` is imported
#: what the other process can do
WORK: dict[str, tuple[Any, Callable[[Any], Iterator[Any]]]] = {
    "measure": (layer_timing, layer_timing.measure),
    "train": (reach_training, reach_training.train),
}


def measure(config: layer_timing.Config) -> Generator[layer_timing.Result]:
    """`layer_timing.measure` elsewhere, with as many threads as here. Ends the other process when it is closed."""
    layer_timing.check(config)
    yield from _results("measure", config, torch.get_num_threads(), layer_timing.from_json)


def train(config: reach_training.Config) -> Generator[reach_training.Result]:
    """`reach_training.train` elsewhere. Ends the other process when it is closed."""
    reach_training.check(config)
    # one thread, as the server: more would add their sums in another order
    yield from _results("train", config, 1, reach_training.from_json)


def _results(
    work: str, config: layer_timing.Config | reach_training.Config, threads: int, read: Callable[[Any], R]
) -> Generator[R]:
    """What `main` reports in another process, as `read` understands it. Ends that process when it is closed."""
    path = os.pathsep.join(filter(None, [str(PROGRAM), os.environ.get("PYTHONPATH")]))
    child = subprocess.Popen(
        [sys.executable, "-m", __name__, work, json.dumps(asdict(config)), str(threads)],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(torch.get_num_threads())},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    try:
        for line in child.stdout:
            if line.startswith("{"):
                yield read(json.loads(line))
        if child.wait():
            raise Problem("the process that computes this ended early, with exit code {code}", code=child.returncode)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def main(work: str, config: str, threads: str) -> None:
    """Report each partial result of "measure" or "train", a line each."""
    torch.set_num_threads(int(threads))
    if work == "train" and hasattr(os, "nice"):
        os.nice(NICE)
    module, begin = WORK[work]
    for result in begin(module.Config(**json.loads(config))):
        sys.stdout.write(json.dumps(module.to_json(result)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
