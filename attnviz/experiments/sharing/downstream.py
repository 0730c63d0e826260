"""What the whole model makes of shared keys and values: the next token, before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attnviz.experiments.explorer import ModelRun
from attnviz.experiments.sharing import head_sharing
from attnviz.models.capture import Edit, Logits, RecordedLayer, Trace, intervene
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import token_label

Scope = Literal["layer", "all"]
SHOWN = 6


@dataclass(frozen=True)
class NextTokenGuess:
    """One token and how likely it is to come next."""

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Result:
    """`guesses`, likeliest as trained first, is empty for a model that predicts nothing."""

    scope: Scope
    guesses: tuple[NextTokenGuess, ...]
    divergence: float | None  #: KL(before | after) of the next token, nats
    last_moved: float  #: change of the last layer's attention output, relative


def run(before: ModelRun, loaded: LoadedModel, config: head_sharing.Config, scope: Scope = "layer") -> Result:
    """Run the model again with `config`'s sharing in one layer or in all."""
    edit = Edit(layers=config.layer if scope == "layer" else "all", change=head_sharing.change(config))
    logits: Logits = "last" if before.trace.logits is not None else None
    after = intervene(loaded.model, edit, logits=logits, **before.inputs_on(loaded.model.device))
    moved = _last_moved(*(_last_layer(trace, loaded) for trace in (before.trace, after)))
    if before.trace.logits is None or after.logits is None or loaded.entry.kind == "encoder":
        return Result(scope, (), None, moved)
    old, new = (_distribution(trace.logits) for trace in (before.trace, after))
    best = torch.cat([old.topk(SHOWN).indices, new.topk(2).indices]).unique()
    best = best[old[best].argsort(descending=True)]
    tokenizer = loaded.tokenizer
    assert tokenizer is not None
    guesses = tuple(
        NextTokenGuess(token_label(str(tokenizer.decode([int(i)]))), float(old[i]), float(new[i])) for i in best
    )
    divergence = float((old * (old.clamp_min(1e-30).log() - new.clamp_min(1e-30).log())).sum())
    return Result(scope, guesses, divergence, moved)


def _distribution(logits: Tensor | None) -> Tensor:
    assert logits is not None
    return logits[0].double().softmax(-1)


def _last_layer(trace: Trace, loaded: LoadedModel) -> RecordedLayer:
    layer = [found for found in trace.layers if found.kind == "self"][-1]
    return head_sharing.complete(layer, loaded.model)


def _last_moved(before: RecordedLayer, after: RecordedLayer) -> float:
    old, new = _output(before), _output(after)
    return float((new - old).norm() / old.norm().clamp_min(1e-30))


def _output(layer: RecordedLayer) -> Tensor:
    output = layer.stages_of(list(range(layer.n_heads))).output
    whole = output[0].transpose(0, 1).flatten(1).float()
    return whole @ layer.w_o.float().T if layer.w_o is not None else whole
