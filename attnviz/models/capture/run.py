"""Record a model's attention: one forward pass that keeps Q, K and V, from which any head can be computed later.

>>> trace = capture(model, input_ids=ids)
>>> trace.layers[0].weights(heads=2)              # what the model used, (B, 1, Q, K)
>>> trace.layers[0].weights(heads=2, scale=None)  # the same head had the scores not been scaled
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from attnviz.models.capture.adapter import adopt, switched, takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.eager_fallback import eager_layers
from attnviz.models.capture.forward_pass import Logits, arguments, logits_of
from attnviz.models.capture.recorder import Recorder, listening
from attnviz.models.capture.trace import Trace

__all__ = ["adopt", "capture"]


def capture(model: nn.Module, *, logits: Logits = "last", **inputs: Any) -> Trace:
    """One pass of any transformers model, on its own fast path, with every attention layer recorded.

    `inputs` are the arguments of the model's forward. `logits` "last" keeps the logits of the last
    real position of each row, "all" keeps those of every position, None skips the output layer.
    Families that cannot use a custom attention function run their eager path instead, and their
    layers have `exact=False`. No gradients are computed; dropout follows the model's mode.
    """
    must_hold()
    if takes_interface(model):
        trace, _ = record(model, Recorder(model), logits, inputs)
        if trace.layers:
            return trace
    return eager_layers(model, logits, inputs)


def record(model: nn.Module, recorder: Recorder, logits: Logits, inputs: dict[str, Any]) -> tuple[Trace, Any]:
    """Run the pass with `recorder` answering its attention calls; returns the trace and the model's output."""
    part, given = arguments(model, logits, inputs)
    with torch.no_grad(), switched(model), listening(recorder):
        output = part(**given)
    kept = {
        name: value for name, value in inputs.items() if isinstance(value, Tensor) and not value.is_floating_point()
    }
    return Trace(tuple(recorder.layers), logits_of(output, logits, model, inputs), kept), output
