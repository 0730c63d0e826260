"""Run a model once with every attention layer recorded, to read it afterwards, or with its attention changed."""

from attnviz.models.capture.all_heads import Swept, measures, sweep, yardstick
from attnviz.models.capture.forward_pass import Logits
from attnviz.models.capture.head_selection import of_heads
from attnviz.models.capture.intervention import Edit, NumberChoice, TensorChange, intervene
from attnviz.models.capture.next_token import guesses, moved, probabilities, probability_moved
from attnviz.models.capture.output_projection import output_projection_of
from attnviz.models.capture.recorded_layer import MaskChoice, RecordedLayer, ScaleChoice
from attnviz.models.capture.run import adopt, capture
from attnviz.models.capture.trace import Trace
from attnviz.models.capture.trace_file import load_trace, save_trace

__all__ = [
    "Edit",
    "Logits",
    "MaskChoice",
    "NumberChoice",
    "RecordedLayer",
    "ScaleChoice",
    "Swept",
    "TensorChange",
    "Trace",
    "adopt",
    "capture",
    "guesses",
    "intervene",
    "load_trace",
    "measures",
    "moved",
    "of_heads",
    "output_projection_of",
    "probabilities",
    "probability_moved",
    "save_trace",
    "sweep",
    "yardstick",
]
