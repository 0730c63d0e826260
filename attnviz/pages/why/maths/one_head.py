"""What the model says once one of its heads is silenced."""

from dataclasses import dataclass

import numpy as np
import torch

from attnviz.models.capture import Edit, intervene, probabilities
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.why.maths.parts import Parts
from attnviz.runs.model_run import ModelRun


@dataclass(frozen=True, eq=False)
class Without:
    """The answer of a pass without the head."""

    shares: np.ndarray  #: the probability of each token asked about
    total: float  #: the logit asked about, or the lead


def run(run: ModelRun, loaded: LoadedModel, ids: tuple[int, ...], position: int, layer: int, head: int) -> Without:
    """Run the model again without the head, its later layers too."""
    edit = Edit(layer, head, silence=True)
    trace = intervene(loaded.model, edit, logits=loaded.predicts, **run.inputs_on(loaded.model.device))
    assert trace.logits is not None
    logits = trace.logits[0] if trace.logits.dim() == 2 else trace.logits[0, position]
    asked = logits[torch.tensor(ids)].float()
    total = float(asked[0] - asked[1]) if len(ids) > 1 else float(asked[0])
    return Without(probabilities(logits)[torch.tensor(ids)].cpu().numpy(), total)


def ids_of(parts: Parts) -> tuple[int, ...]:
    """The tokens asked about."""
    return tuple(answer.id for answer in parts.asked)
