"""Run a model with its attention changed, to see how later layers and the output respond.

>>> after = intervene(model, [Edit(layers=3, heads=(0, 5), silence=True)], input_ids=ids)
>>> after.logits - capture(model, input_ids=ids).logits
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor, nn

from attnviz.core.attention import Scale
from attnviz.core.message import Problem
from attnviz.models.capture.adapter import takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.attention_call import Answer, Call
from attnviz.models.capture.edited_layer import Plan, carry_out, layer_output
from attnviz.models.capture.forward_pass import Logits
from attnviz.models.capture.head_selection import chosen_heads
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.run import record
from attnviz.models.capture.trace import Trace

NumberChoice = int | Collection[int] | Literal["all"]
TensorChange = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class Edit:
    """What to change, and where. Edits are applied in the order given, so a later edit overrides an earlier one.

    `layers` and `heads` count from 0; `layers` within the same stack and kind, like `RecordedLayer.index`.
    `mask` replaces the model's pattern as in `RecordedLayer.weights`. `scale` replaces the number that
    multiplies q.kT; `factor` multiplies the model's own. `change` is called with q (B, H, Q, D), k (B, G, K, D)
    and v (B, G, K, Dv) of the whole layer and returns replacements, which are used for the chosen heads; it may
    return fewer key/value heads. Dropout is not applied in a changed layer, even in training.
    """

    layers: NumberChoice = "all"
    heads: NumberChoice = "all"
    stack: Literal["encoder", "decoder"] | None = None  #: None: either
    kind: Literal["self", "cross"] = "self"
    mask: Tensor | Literal["model"] | None = "model"
    scale: Scale | Literal["model"] = "model"
    factor: float = 1.0
    uniform: bool = False  #: give every key that may be seen the same weight
    silence: bool = False  #: replace the heads' input to the output projection by 0
    change: TensorChange | None = None

    def concerns(self, layer: RecordedLayer) -> bool:
        here = self.kind == layer.kind and self.stack in (None, layer.stack)
        return here and layer.index in _numbers(self.layers, layer.index + 1)

    def heads_of(self, layer: RecordedLayer) -> list[int]:
        return sorted(set(chosen_heads(_numbers(self.heads, layer.n_heads), layer.n_heads, layer.index)))


def intervene(model: nn.Module, edits: Edit | Sequence[Edit], *, logits: Logits = "last", **inputs: Any) -> Trace:
    """The same pass as `capture`, with `edits` applied; the trace records the changed attention."""
    chosen = (edits,) if isinstance(edits, Edit) else tuple(edits)
    must_hold()
    if not takes_interface(model):
        raise Problem(
            "{model} computes attention in its own way; it can be shown but not changed", model=type(model).__name__
        )
    recorder = Intervention(model, chosen)
    trace, _ = record(model, recorder, logits, inputs)
    for edit in chosen:
        missing = sorted(set(_numbers(edit.layers, 0)) - recorder.met[edit])
        if missing:
            raise Problem("{model} has no layer {missing} to change", model=type(model).__name__, missing=missing[0])
    return trace


class Intervention(Recorder):
    """A recorder that answers the attention calls of edited layers with the changed attention."""

    def __init__(self, model: nn.Module, edits: tuple[Edit, ...]) -> None:
        super().__init__(model)
        self.edits = edits
        self.met: dict[Edit, set[int]] = {edit: set() for edit in edits}

    def answer(self, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer:
        layer = self.describe(module, call)
        edits = [edit for edit in self.edits if edit.concerns(layer)]
        for edit in edits:
            self.met[edit].add(layer.index)
        if not edits:
            return self.keep(layer, module, call, mask, kwargs)
        if call.unknown:
            raise Problem("layer {index} gives its weights only and cannot be changed", index=layer.index)
        changed = layer
        for edit in edits:
            changed = carry_out(plan(edit, layer), changed)
        self.layers.append(changed)
        return layer_output(changed).to(call.q.dtype), None


def plan(edit: Edit, layer: RecordedLayer) -> Plan:
    """The edit as it applies to this layer, with the chosen heads as a list."""
    return Plan(edit.heads_of(layer), edit.mask, edit.scale, edit.factor, edit.uniform, edit.silence, edit.change)


def _numbers(choice: NumberChoice, count: int) -> Collection[int]:
    if choice == "all":
        return range(count)
    if isinstance(choice, int):
        return (choice,)
    assert not isinstance(choice, str)
    return choice
