"""A sentence through a real model: every head's matrix, its measures and stages, and what a change does.

`Frame`, `MaskChoice`, `RecordedLayer`, `ScaleChoice` and `Trace` belong to `models`; they are exported here too,
because functions of this package take and return them.
"""

from attnviz.experiments.explorer.aligned_sentences import Aligned, aligned, in_both
from attnviz.experiments.explorer.head_matrix import Look, Matrix, average, rolled_out, telling_depth
from attnviz.experiments.explorer.head_stages import StagesResult, stages
from attnviz.experiments.explorer.largest_change import (
    LargestChange,
    largest_change,
    said_of_change,
    said_of_difference,
)
from attnviz.experiments.explorer.model_run import (
    ModelRun,
    Request,
    Stack,
    StackId,
    has_kept_run,
    kept_run,
    run_model,
)
from attnviz.experiments.explorer.predictions import (
    ProbabilityChange,
    Slot,
    TokenChoice,
    changes,
    likeliest,
    slots,
    token_choices,
)
from attnviz.experiments.explorer.raw_heads import RawHead, raw_head, raw_heads, raw_heads_of
from attnviz.experiments.explorer.what_if import WhatIf, instantly
from attnviz.models.capture import MaskChoice, RecordedLayer, ScaleChoice, Trace
from attnviz.models.tokens import Frame

__all__ = [
    "Aligned",
    "Frame",
    "LargestChange",
    "Look",
    "MaskChoice",
    "Matrix",
    "ModelRun",
    "ProbabilityChange",
    "RawHead",
    "RecordedLayer",
    "Request",
    "ScaleChoice",
    "Slot",
    "Stack",
    "StackId",
    "StagesResult",
    "TokenChoice",
    "Trace",
    "WhatIf",
    "aligned",
    "average",
    "changes",
    "has_kept_run",
    "head_matrix",
    "head_measures",
    "in_both",
    "instantly",
    "kept_run",
    "largest_change",
    "likeliest",
    "model_parts",
    "raw_head",
    "raw_heads",
    "raw_heads_of",
    "rolled_out",
    "run_model",
    "said_of_change",
    "said_of_difference",
    "slots",
    "stages",
    "telling_depth",
    "token_choices",
    "what_if",
]
