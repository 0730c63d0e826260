"""Whether weights were ever trained, seen from the weights alone.

Every norm starts with all its factors alike, and the first step of training makes them differ. A model
whose norms are all as they start has random weights, wherever its files came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnviz.models.catalogue import WeightsAre

if TYPE_CHECKING:
    from torch import nn


def weights_are(model: nn.Module) -> WeightsAre:
    """ "unknown" where no norm has factors to look at."""
    factors = [
        weight
        for module in model.modules()
        if "norm" in type(module).__name__.lower()
        for name, weight in module.named_parameters(recurse=False)
        if name == "weight" and weight.numel() > 1
    ]
    if not factors:
        return "unknown"
    as_they_start = all(bool((each == each.flatten()[0]).all()) for each in factors)
    return "random" if as_they_start else "trained"
