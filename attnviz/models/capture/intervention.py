"""Run a model again with its attention changed, and see what follows.

>>> after = intervene(model, [Edit(layers=3, heads=(0, 5), silence=True)], input_ids=ids)
>>> after.logits - capture(model, input_ids=ids).logits
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal

from torch import Tensor, nn

from attnviz.core.attention import Scale
from attnviz.core.message import Problem
from attnviz.models.capture.adapter import takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.attention_call import Answer, Call
from attnviz.models.capture.compiled import unwrapped
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
    """What to change, and where. Edits are made in the order given; a later one wins over an earlier.

    `layers` and `heads` count from 0; `layers` within the stack and kind, as `RecordedLayer.index` does.
    `mask` replaces the model's pattern as in `RecordedLayer.weights`. `scale` is what multiplies q.kT, and
    `factor` multiplies what the model itself uses. `change` is given q (B, H, Q, D), k (B, G, K, D) and
    v (B, G, K, Dv) of the whole layer, copies that it may write into, and returns what to use in their place, for
    the chosen heads; it may return fewer key/value heads. It sees the model's own tensors, unless an earlier
    function changed some of its heads: then it sees what that one made, with keys and values for each head
    (G = H) where only some heads were changed. Dropout, in a model that trains, does not act in a layer that is
    changed.
    """

    layers: NumberChoice = "all"
    heads: NumberChoice = "all"
    stack: Literal["encoder", "decoder"] | None = None  #: None: either
    kind: Literal["self", "cross"] = "self"
    mask: Tensor | Literal["model"] | None = "model"
    scale: Scale | Literal["model"] = "model"
    factor: float = 1.0
    uniform: bool = False  #: the same weight on every key that may be seen
    silence: bool = False  #: the heads give 0 to the output projection
    change: TensorChange | None = None

    def concerns(self, layer: RecordedLayer) -> bool:
        here = self.kind == layer.kind and self.stack in (None, layer.stack)
        return here and layer.index in _numbers("layers", self.layers, layer.index + 1)

    def heads_of(self, layer: RecordedLayer) -> list[int]:
        return sorted(set(chosen_heads(_numbers("heads", self.heads, layer.n_heads), layer.n_heads, layer.index)))


def intervene(model: nn.Module, edits: Edit | Sequence[Edit], *, logits: Logits = "last", **inputs: Any) -> Trace:
    """The same pass as `capture`, with `edits` made on the way; the trace shows what was then used."""
    chosen = (edits,) if isinstance(edits, Edit) else tuple(edits)
    must_hold()
    model = unwrapped(model)
    if not takes_interface(model):
        raise Problem(
            "{model} computes attention in its own way; it can be shown but not changed", model=type(model).__name__
        )
    recorder = Intervention(model, chosen)
    trace, _ = record(model, recorder, logits, inputs)
    recorder.must_have_met_all()
    return trace


class Intervention(Recorder):
    """A recorder that answers some calls differently."""

    def __init__(self, model: nn.Module, edits: tuple[Edit, ...]) -> None:
        super().__init__(model)
        for edit in edits:
            _numbers("layers", edit.layers, 0)
            _numbers("heads", edit.heads, 0)
        self.edits = edits
        self.model_name = type(model).__name__
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
        changed, touched = layer, set[int]()
        for edit in edits:
            here = plan(edit, layer)
            changed = carry_out(here, changed, None if touched.intersection(here.heads) else layer)
            touched.update(here.heads if edit.change is not None else ())
        self.layers.append(self.with_norms(changed, module, values_are_known=changed.v is layer.v))
        return layer_output(changed).to(call.q.dtype), None

    def must_have_met_all(self) -> None:
        """A Problem for an edit of a layer that this pass did not come by."""
        for edit in self.edits:
            missing = sorted(set(_numbers("layers", edit.layers, 0)) - self.met[edit])
            if missing:
                raise Problem("{model} has no layer {missing} to change", model=self.model_name, missing=missing[0])
            if not self.met[edit]:
                raise Problem("{model} has no layer of this kind to change", model=self.model_name)


def plan(edit: Edit, layer: RecordedLayer) -> Plan:
    """The edit in this layer's own numbers."""
    return Plan(edit.heads_of(layer), edit.mask, edit.scale, edit.factor, edit.uniform, edit.silence, edit.change)


def _numbers(name: str, choice: NumberChoice, count: int) -> Collection[int]:
    """The numbers chosen, "all" being those below `count`; anything else is refused by the name of its field."""
    if isinstance(choice, str) and choice == "all":
        return range(count)
    try:
        return (index(choice),)  # type: ignore[arg-type]
    except TypeError:
        pass
    if isinstance(choice, Collection) and not isinstance(choice, str):
        if len(choice) == 0:
            raise Problem('{name} is empty: name at least one, or "all"', name=name)
        try:
            return [index(number) for number in choice]
        except TypeError:
            pass
    raise Problem('{name}={choice} must be a number, several numbers, or "all"', name=name, choice=repr(choice))
