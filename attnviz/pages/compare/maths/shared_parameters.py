"""What a layer shares between places: its parameters do not grow with the sequence, unless nothing is shared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from attnviz.pages.compare.maths import compared_layers, layer_costs
from attnviz.pages.compare.maths.layer_costs import KINDS, RECURRENT, Config

#: layers that share nothing, or not everything, for comparison
UNSHARED = ("dense", "mixer", "positions")
SHOWN = ("attention", "lstm", "gru", "conv", *UNSHARED)


@dataclass(frozen=True)
class Result:
    config: Config
    n: np.ndarray
    parameters: Mapping[str, np.ndarray]  #: by id, over n
    here: Mapping[str, int]


def run(config: Config) -> Result:
    layer_costs.check(config)
    n = layer_costs.grid(replace(config, axis="n"))
    found = {kind: np.array([float(parameters(kind, replace(config, n=int(i)))) for i in n]) for kind in SHOWN}
    return Result(config, n, found, {kind: parameters(kind, config) for kind in SHOWN})


def parameters(kind: str, config: Config) -> int:
    """Exact parameters of a layer from width d to width d, biases included.

    dense      one matrix from all n d numbers to all n d numbers: each pair of places has weights of its own
    mixer      attention's n x n weights, but learned instead of computed (an MLP-Mixer's token mixing, one layer)
    positions  a learned vector for each place, as in GPT-2, beside attention
    """
    n, d = config.n, config.d
    attention = 4 * d * d + 4 * d
    gates = 2 * d * d + 2 * d  # two matrices and two biases for each gate
    return {
        "attention": attention,
        "window": attention,
        "linear": attention,
        "rnn": gates,
        "gru": 3 * gates,
        "lstm": 4 * gates,
        "conv": config.k * d * d + d,
        "dilated": config.k * d * d + d,
        "dense": (n * d) ** 2 + n * d,
        "mixer": n * n + n,
        "positions": attention + n * d,
    }[kind]


# The layers built without memory, and what torch counts while they run: FLOPs and parameters.
#: a recurrence is walked through step by step, in Python when torch counts, so it is counted over fewer tokens
MOST_STEPS = 32


@dataclass(frozen=True)
class CountedLayer:
    """One layer, by formula and counted. Of a recurrence `tokens` are counted: it costs the same for each."""

    kind: str
    tokens: int
    formula_flops: int
    counted_flops: int
    formula_parameters: int
    counted_parameters: int

    @property
    def agrees(self) -> bool:
        return (self.formula_flops, self.formula_parameters) == (self.counted_flops, self.counted_parameters)


def counted(config: Config) -> tuple[CountedLayer, ...]:
    """Every layer on torch's meta device, which knows shapes and computes nothing."""
    layer_costs.check(config)
    return tuple(_counted(kind, replace(config, counting="built")) for kind in KINDS)


def _counted(kind: str, config: Config) -> CountedLayer:
    tokens = min(config.n, MOST_STEPS) if kind in RECURRENT else config.n
    short = replace(config, n=tokens)
    with torch.device("meta"):
        layer = compared_layers.layer(kind, config.d, heads=config.heads, k=config.k, window=config.window)
        x = torch.empty(1, tokens, config.d)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layer(x)
    return CountedLayer(
        kind,
        tokens,
        layer_costs.terms(kind, short).at(short),
        int(counter.get_total_flops()),
        parameters(kind, config),
        sum(p.numel() for p in layer.parameters()),
    )
