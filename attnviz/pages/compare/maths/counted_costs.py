"""The layers built without memory, and what torch counts while they run: FLOPs and parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch.utils.flop_counter import FlopCounterMode

from attnviz.pages.compare.maths import compared_layers, layer_costs, shared_parameters
from attnviz.pages.compare.maths.layer_costs import KINDS, RECURRENT, Config

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


def run(config: Config) -> tuple[CountedLayer, ...]:
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
        shared_parameters.parameters(kind, config),
        sum(p.numel() for p in layer.parameters()),
    )
