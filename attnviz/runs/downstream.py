"""What shared keys and values change in the whole model: the next token, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from attnviz.models.capture import Edit, Logits, RecordedLayer, Trace, intervene
from attnviz.models.catalogue import LoadedModel
from attnviz.runs import head_sharing
from attnviz.runs.model_run import ModelRun
from attnviz.runs.predictions import ProbabilityChange, likeliest

Scope = Literal["layer", "all"]
SHOWN = 6


@dataclass(frozen=True)
class Result:
    """`guesses`, in order of probability as trained, is empty for a model that predicts no tokens."""

    scope: Scope
    guesses: tuple[ProbabilityChange, ...]
    divergence: float | None  #: KL(before || after) of the next token's distributions, nats; it is directed
    last_moved: float  #: length of the change of the last layer's attention output, relative to that output


def run(before: ModelRun, loaded: LoadedModel, config: head_sharing.Config, scope: Scope = "layer") -> Result:
    """Run the model again with `config`'s sharing in one layer or in all."""
    edit = Edit(layers=config.layer if scope == "layer" else "all", change=head_sharing.change(config))
    logits: Logits = "last" if before.trace.logits is not None else None
    after = intervene(loaded.model, edit, logits=logits, **before.inputs_on(loaded.model.device))
    moved = _last_moved(*(_last_layer(trace, loaded) for trace in (before.trace, after)))
    if before.trace.logits is None or after.logits is None or loaded.entry.kind == "encoder":
        return Result(scope, (), None, moved)
    old, new = (_distribution(trace.logits) for trace in (before.trace, after))
    guesses = tuple(likeliest(loaded, before.trace.logits[0], after.logits[0], SHOWN, n_after=2))
    divergence = float((old * (old.clamp_min(1e-30).log() - new.clamp_min(1e-30).log())).sum())
    return Result(scope, guesses, divergence, moved)


def _distribution(logits: Tensor | None) -> Tensor:
    assert logits is not None
    return logits[0].double().softmax(-1)


def _last_layer(trace: Trace, loaded: LoadedModel) -> RecordedLayer:
    layer = [found for found in trace.layers if found.kind == "self"][-1]
    return head_sharing.complete(layer, loaded.model)


def _last_moved(before: RecordedLayer, after: RecordedLayer) -> float:
    old, new = (
        head_sharing.whole_output(layer, layer.stages_of(list(range(layer.n_heads)))) for layer in (before, after)
    )
    return float(head_sharing.relative(old, new))
