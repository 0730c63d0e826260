"""What the model says once one of its heads is silenced."""

from dataclasses import dataclass

import numpy as np
import torch

from attnviz.models.capture import Edit, intervene, probabilities
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.why.maths.parts import Ids
from attnviz.runs.model_run import ModelRun


@dataclass(frozen=True, eq=False)
class Without:
    """The answer of a pass without the head."""

    shares: np.ndarray  #: the probability of each token asked about
    total: float  #: the logit asked about, or the lead


def run(run: ModelRun, loaded: LoadedModel, ids: Ids, position: int, layer: int, head: int) -> Without:
    """Run the model again without the head, its later layers too."""
    edit = Edit(layer, head, silence=True)
    trace = intervene(loaded.model, edit, logits=loaded.predicts, **run.inputs_on(loaded.model.device))
    assert trace.logits is not None
    logits = trace.logits[0] if trace.logits.dim() == 2 else trace.logits[0, position]
    asked = torch.tensor([each for each in ids if each is not None])
    own, *other = logits[asked].float().tolist()
    return Without(probabilities(logits)[asked].cpu().numpy(), own - sum(other))
