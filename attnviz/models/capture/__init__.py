"""Run a model once and record every attention layer, or run it with its attention edited."""

from attnviz.models.capture.adapter import adopt, reset_implementation
from attnviz.models.capture.all_heads import Yardstick, make_yardstick, sweep_layer
from attnviz.models.capture.bands import weight_bands
from attnviz.models.capture.cached_pass import AnswerLayer, CachedPass, ResumedPass, pass_with_cache
from attnviz.models.capture.edit import (
    Edit,
    NumberChoice,
    TensorChange,
    ablate,
    knockout,
    patch,
    remask,
    rescale,
    silence,
    steer,
)
from attnviz.models.capture.forward_pass import Logits
from attnviz.models.capture.head_measures import HeadMeasure
from attnviz.models.capture.head_selection import select_heads
from attnviz.models.capture.logit_attribution import LogitAttribution, LogitLens
from attnviz.models.capture.metric import AttentionWeight, LogitDiff, attention_weight, logit_diff
from attnviz.models.capture.output_projection import find_output_projection
from attnviz.models.capture.recorded_layer import LayerKey, MaskChoice, RecordedLayer, ScaleChoice
from attnviz.models.capture.residual import Residual
from attnviz.models.capture.rotary_positions import Rotary, find_rotary, learned_positions
from attnviz.models.capture.run import capture, intervene
from attnviz.models.capture.score_attribution import Cut, ScoreAttribution
from attnviz.models.capture.trace import Trace

__all__ = [
    "AnswerLayer",
    "AttentionWeight",
    "CachedPass",
    "Cut",
    "Edit",
    "HeadMeasure",
    "LayerKey",
    "LogitAttribution",
    "LogitDiff",
    "LogitLens",
    "Logits",
    "MaskChoice",
    "NumberChoice",
    "RecordedLayer",
    "Residual",
    "ResumedPass",
    "Rotary",
    "ScaleChoice",
    "ScoreAttribution",
    "TensorChange",
    "Trace",
    "Yardstick",
    "ablate",
    "adopt",
    "attention_weight",
    "capture",
    "find_output_projection",
    "find_rotary",
    "intervene",
    "knockout",
    "learned_positions",
    "logit_diff",
    "make_yardstick",
    "pass_with_cache",
    "patch",
    "remask",
    "rescale",
    "reset_implementation",
    "select_heads",
    "silence",
    "steer",
    "sweep_layer",
    "weight_bands",
]
