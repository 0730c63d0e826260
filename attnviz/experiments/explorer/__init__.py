"""A sentence through a real model: every head's matrix, its measures and stages, and what a change does.

`Frame`, `RecordedLayer` and `Trace` are of `models`, handed on because what is made here is made of them.
"""

from attnviz.experiments.explorer.head_matrix import Look, Matrix, average, rolled_out
from attnviz.experiments.explorer.head_stages import StagesResult, stages
from attnviz.experiments.explorer.model_run import Reading, Request, Stack, read, read_earlier
from attnviz.experiments.explorer.predictions import (
    ProbabilityChange,
    Slot,
    TokenChoice,
    changes,
    choices,
    likeliest,
    slots,
)
from attnviz.experiments.explorer.what_if import WhatIf, instantly
from attnviz.models.capture import RecordedLayer, Trace
from attnviz.models.tokens import Frame

__all__ = [
    "Frame",
    "Look",
    "Matrix",
    "ProbabilityChange",
    "Reading",
    "RecordedLayer",
    "Request",
    "Slot",
    "Stack",
    "StagesResult",
    "TokenChoice",
    "Trace",
    "WhatIf",
    "average",
    "changes",
    "choices",
    "head_matrix",
    "head_measures",
    "instantly",
    "likeliest",
    "read",
    "read_earlier",
    "rolled_out",
    "slots",
    "stages",
    "what_if",
]
