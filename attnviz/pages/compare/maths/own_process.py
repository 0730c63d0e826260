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
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from attnviz.base.message import Problem
from attnviz.pages.compare.maths import layer_timing, reach_training

NICE = 10  #: of 19, the last to be served: pages that are opened during a training go first
PROGRAM = Path(__file__).parents[4]  #: the folder from which `attnviz` is imported


def measure(config: layer_timing.Config) -> Generator[layer_timing.Result]:
    """`layer_timing.measure` elsewhere, with as many threads as here. Ends the other process when it is closed."""
    layer_timing.check(config)
    with closing(results("measure", json.dumps(asdict(config)), str(torch.get_num_threads()))) as reported:
        for held in reported:
            yield layer_timing.from_json(held, of=held["of"])


def train(config: reach_training.Config) -> Generator[reach_training.Result]:
    """`reach_training.train` elsewhere. Ends the other process when it is closed."""
    reach_training.check(config)
    # one thread, as the server: more would add their sums in another order
    with closing(results("train", json.dumps(asdict(config)), "1")) as reported:
        for held in reported:
            yield reach_training.from_json(held)


def results(*arguments: str) -> Generator[Any]:
    """What `main(arguments)` reports in another process, as plain data. Ends that process when it is closed."""
    path = os.pathsep.join(filter(None, [str(PROGRAM), os.environ.get("PYTHONPATH")]))
    child = subprocess.Popen(
        [sys.executable, "-m", __name__, *arguments],
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


def main(work: str, config: str, threads: str) -> None:
    """Report each partial result of "measure" or "train"."""
    torch.set_num_threads(int(threads))
    chosen = json.loads(config)
    if work == "measure":
        for timed in layer_timing.measure(layer_timing.Config(**chosen)):
            report({**layer_timing.to_json(timed), "of": timed.of})
        return
    if hasattr(os, "nice"):
        os.nice(NICE)
    for trained in reach_training.train(reach_training.Config(**chosen)):
        report(reach_training.to_json(trained))


if __name__ == "__main__":
    main(*sys.argv[1:])
