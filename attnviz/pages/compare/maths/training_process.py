"""Training in a process of its own, after everybody else: pages that are opened meanwhile go first."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict

import torch

from attnviz.pages.compare.maths import own_process, reach_training

NICE = 10  #: of 19, the last to be served


def train(config: reach_training.Config) -> Generator[reach_training.Result]:
    """`reach_training.train` elsewhere. Ends the other process when it is closed."""
    reach_training.check(config)
    with closing(own_process.results(__name__, json.dumps(asdict(config)))) as found:
        for held in found:
            yield reach_training.from_json(held)


def main(config: str) -> None:
    """Report each partial result."""
    torch.set_num_threads(1)  # as the server: more threads would add their sums in another order
    if hasattr(os, "nice"):
        os.nice(NICE)
    for result in reach_training.train(reach_training.Config(**json.loads(config))):
        own_process.report(reach_training.to_json(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
