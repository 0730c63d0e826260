"""Run a model with a head's rotary positions removed or rescaled; compare weights and next tokens."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from attnviz.analysis.model_run import ModelRun
from attnviz.analysis.predictions import ProbabilityChange, compare_choices, prediction_slots
from attnviz.base.message import Problem
from attnviz.core.measures import first_token_mass, mean_over_rows, previous_token_mass, total_variation
from attnviz.models.capture import Edit, Rotary, find_rotary, intervene
from attnviz.models.catalogue import LoadedModel


@dataclass(frozen=True)
class Config:
    """The head, and how its rotary positions are changed."""

    layer: int = 16
    head: int = 0
    change: str = "removed"  #: or "base"
    base: float = 1000.0  #: the new one, for "base"
    where: str = "head"  #: in this head, in all heads of its layer, or in every layer


@dataclass(frozen=True)
class Result:
    """Weights and next tokens before and after the change."""

    config: Config
    rotary: Rotary
    allowed: np.ndarray  #: (Q, K) boolean
    before: np.ndarray  #: (Q, K) weights of the chosen head
    after: np.ndarray
    distance_before: np.ndarray  #: (K,) mean weight on the key that many positions before the query
    distance_after: np.ndarray
    previous: tuple[float, float]  #: mean weight on the token just before, NaN for a single token
    first: tuple[float, float]  #: mean weight on the first token
    row_shifts: np.ndarray  #: (Q,) the share of each row's weight that went to other keys
    tokens: tuple[ProbabilityChange, ...]  #: the likeliest next tokens, before and after
    probability_shift: float  #: the share of the next token's probability that moved

    @property
    def weight_shift(self) -> float:
        """The share of the head's weight that went to other keys, mean over rows."""
        return float(self.row_shifts.mean())


def rotation(_run: ModelRun, loaded: LoadedModel) -> Rotary:
    """The model's rotary embedding; a Problem for a model without rotary positions."""
    return find_rotary(loaded.model)


def run(run: ModelRun, loaded: LoadedModel, config: Config, rotary: Rotary | None = None) -> Result:
    """Run the model again with the rotation changed; everything else stays as it was trained.

    `rotary` is what `rotation` found, where it is known: finding it takes two short passes.
    """
    stack = run.stacks[0]
    stack.require(config.layer, config.head)
    rotary = rotary or rotation(run, loaded)
    if stack.layers[config.layer].index not in rotary.layers:
        raise Problem("layer {layer} does not rotate its queries and keys: choose another", layer=config.layer)
    layers = rotary.layers if config.where == "all" else {stack.layers[config.layer].index}
    change = rotary.change_base(None if config.change == "removed" else config.base)
    edit = Edit(tuple(sorted(layers)), config.head if config.where == "head" else "all", change=change)
    trace = intervene(loaded.model, edit, logits=loaded.predicts, **run.inputs_on(loaded.model.device))
    layer, changed_layer = stack.layers[config.layer], run.stacks_in(trace)[0].layers[config.layer]
    before, after = (attention.weights(config.head)[0, 0].float().cpu() for attention in (layer, changed_layer))
    next_before, next_after = (
        prediction_slots(run, loaded),
        prediction_slots(run, loaded, trace),
    )  # empty for a model that predicts none
    tokens, share = compare_choices(loaded, next_before[0], next_after[0]) if next_before else ([], 0.0)
    return Result(
        config,
        rotary,
        layer.mask.expand(1, layer.n_heads, *layer.shape[2:])[0, config.head].cpu().numpy(),
        before.numpy(),
        after.numpy(),
        weight_by_distance(before),
        weight_by_distance(after),
        (float(mean_over_rows(previous_token_mass(before))), float(mean_over_rows(previous_token_mass(after)))),
        (float(mean_over_rows(first_token_mass(before))), float(mean_over_rows(first_token_mass(after)))),
        total_variation(before, after).numpy(),
        tuple(tokens),
        share,
    )


def weight_by_distance(weights: Tensor) -> np.ndarray:
    """Mean weight on the key `d` positions before the query, (K,), over the queries that have one."""
    return np.array([float(weights.diagonal(-d).mean()) for d in range(weights.shape[-1])])
