"""What this page measures and trains, in a process of its own."""

from collections.abc import Generator

import torch

from attnviz.pages.compare.maths import layer_timing, reach_training
from attnviz.runs.own_process import NICE, results


def measure(config: layer_timing.Config) -> Generator[layer_timing.Result]:
    """`layer_timing.measure` elsewhere, with as many threads as here. Ends the other process when it is closed."""
    layer_timing.check(config)
    yield from results(layer_timing, "measure", config, torch.get_num_threads())


def train(config: reach_training.Config) -> Generator[reach_training.Result]:
    """`reach_training.train` elsewhere. Ends the other process when it is closed."""
    reach_training.check(config)
    # one thread, as the server: more would add their sums in another order
    yield from results(reach_training, "train", config, 1, NICE)
