"""Measuring in a process of its own, in which nothing else runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import asdict

import torch

from attnviz.pages.compare.maths import layer_timing, own_process


def measure(config: layer_timing.Config) -> Generator[layer_timing.Result]:
    """`layer_timing.measure` elsewhere, with as many threads as here. Ends the other process when it is closed."""
    layer_timing.check(config)
    threads = str(torch.get_num_threads())
    with closing(own_process.results(__name__, json.dumps(asdict(config)), threads)) as found:
        for held in found:
            yield layer_timing.from_json(held, of=held["of"])


def main(config: str, threads: str) -> None:
    """Report each partial result."""
    torch.set_num_threads(int(threads))
    for result in layer_timing.measure(layer_timing.Config(**json.loads(config))):
        own_process.report({**layer_timing.to_json(result), "of": result.of})


if __name__ == "__main__":
    main(*sys.argv[1:])
