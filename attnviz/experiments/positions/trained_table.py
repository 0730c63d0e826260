"""The vectors that a trained model learned for its positions."""

from __future__ import annotations

import numpy as np

from attnviz.core.message import Problem
from attnviz.models.capture import learned_positions
from attnviz.models.catalogue import LoadedModel

MODEL = "minilm-l6"  #: a packaged model that has such vectors


def table(loaded: LoadedModel) -> np.ndarray:
    """(positions, M), float32."""
    found = learned_positions(loaded.model)
    if found is None:
        raise Problem("{model} has no learned positions", model=loaded.entry.name)
    return found.float().cpu().numpy()
