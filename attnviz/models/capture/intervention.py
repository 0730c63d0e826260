"""Run a model with its attention changed, to see how later layers and the output respond.

>>> after = intervene(model, [Edit(layers=3, heads=(0, 5), silence=True)], input_ids=ids)
>>> after.logits - capture(model, input_ids=ids).logits
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from attnviz.base.message import Problem, Several
from attnviz.models.capture.adapter import is_transformers, takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.attention_call import Answer, Call
from attnviz.models.capture.compiled import unwrapped
from attnviz.models.capture.edit import Edit, changing_streams, layers_chosen, numbers_chosen, plan
from attnviz.models.capture.edited_layer import carry_out, layer_output
from attnviz.models.capture.forward_pass import Logits, with_ids
from attnviz.models.capture.generated import must_be_a_model
from attnviz.models.capture.plain_torch import record_plain
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.run import by_name, capture, record
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import LoadedModel


def intervene(
    model: nn.Module | LoadedModel,
    edits: Edit | Sequence[Edit],
    *args: Any,
    logits: Logits = "last",
    grad: bool = False,
    residual: bool = False,
    **inputs: Any,
) -> Trace:
    """The same pass as `capture`, with `edits` applied; the trace records the changed attention.

    Works on whatever `capture` reads exactly: models of transformers, and any torch model whose attention goes through
    torch's own functions or `attnviz.attend`. With `residual`, the stream is that of the changed pass.
    """
    every = _edits(edits)
    must_hold()
    args, inputs, tokens = with_ids(model, args, inputs)
    model = must_be_a_model(unwrapped(model))
    with changing_streams(model, [edit for edit in every if edit.of_stream]):
        heads = tuple(edit for edit in every if not edit.of_stream)
        return replace(_intervened(model, heads, args, logits, inputs, grad, residual), tokens=tokens)


def _edits(given: Any) -> tuple[Edit, ...]:
    """One or several edits as a tuple; a Problem where an argument of the model stands in their place."""
    every = (given,) if isinstance(given, Edit) else tuple(given) if isinstance(given, Sequence) else (None,)
    if not all(isinstance(each, Edit) for each in every):
        raise Problem(
            "{given} is no edit: intervene takes the model, one Edit or a list of them, then what the model takes",
            given=type(given).__name__,
        )
    return every


def _intervened(
    model: nn.Module,
    chosen: tuple[Edit, ...],
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    grad: bool,
    residual: bool,
) -> Trace:
    """The pass with these edits of heads."""
    if not chosen:
        return capture(model, *args, logits=logits, grad=grad, residual=residual, **inputs)
    if takes_interface(model):
        recorder = Intervention(model, chosen, grad, residual)
        trace, _ = record(model, recorder, logits, by_name(model, args, inputs), grad, residual)
        recorder.edits.must_have_met_all()
        return trace
    if is_transformers(model):
        raise Problem(
            "{model} computes attention in its own way; it can be shown but not changed. A forward hook of torch can "
            "change what one of its modules hands on, and capture then records the changed pass",
            model=type(model).__name__,
        )
    changes = EditedPass(model, chosen, False)
    trace = record_plain(model, args, logits, inputs, grad, residual, changes.changed)
    changes.must_have_met_all()
    return trace


class EditedPass:
    """The edits of one pass: what each makes of a layer, and which layers it met."""

    def __init__(self, model: nn.Module, edits: tuple[Edit, ...], two_stacks: bool) -> None:
        for edit in edits:
            layers_chosen(edit.layers)
            numbers_chosen("heads", edit.heads, 0)
            if edit.of_stream:
                raise Problem("the residual stream is changed by intervene, in one pass")
        self._edits = edits
        self._two_stacks = two_stacks
        self._model_name = type(model).__name__
        self._met: dict[Edit, set[int | str]] = {edit: set() for edit in edits}
        self._places: dict[tuple[Edit, int, str, str], set[str]] = {}  #: the towers in which an edit met a number

    def changed(self, layer: RecordedLayer) -> RecordedLayer | None:
        """The layer after all edits that apply to it; None where none does."""
        edits = self.meeting(layer)
        if not edits:
            return None
        changed, touched = layer, set[int]()
        for edit in edits:
            here = plan(edit, layer)
            changed = carry_out(here, changed, None if touched.intersection(here.heads) else layer)
            touched.update(here.heads if edit.change is not None else ())
        return changed

    def meeting(self, layer: RecordedLayer) -> list[Edit]:
        """The edits that apply to a layer that is running."""
        return [edit for edit in self._edits if self._meets(edit, layer)]

    def must_have_met_all(self) -> None:
        """Raise a Problem for an edit of a layer that did not run in this pass."""
        for edit in self._edits:
            missing = [each for each in layers_chosen(edit.layers) if each not in self._met[edit]]
            if missing == ["all"]:
                raise Problem("{model} has no layer of this kind to change", model=self._model_name)
            if missing:
                raise Problem("{model} has no layer {missing} to change", model=self._model_name, missing=missing[0])

    def _meets(self, edit: Edit, layer: RecordedLayer) -> bool:
        """Whether the edit applies to the layer. A number that two towers have is refused: it would change both."""
        chosen = edit.chosen_by(layer)
        self._met[edit] |= chosen
        if layer.index in chosen:
            side = layer.stack if self._two_stacks else ""  # an edit of "either" stack means both of an encoder-decoder
            towers = self._places.setdefault((edit, layer.index, side, layer.kind), set())
            towers.add(layer.tower)
            if len(towers) > 1:
                raise Problem(
                    "layer {index} is in {towers}: say which, as tower",
                    index=layer.index,
                    towers=Several(sorted(towers)),
                )
        return bool(chosen)


class Intervention(Recorder):
    """A recorder that answers the attention calls of edited layers with the changed attention."""

    def __init__(
        self, model: nn.Module, edits: tuple[Edit, ...], keeps_graph: bool = False, keeps_projections: bool = False
    ) -> None:
        super().__init__(model, keeps_graph, keeps_projections)
        self.edits = EditedPass(model, edits, self._two_stacks)

    def answer(self, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer:
        layer = self.describe(module, call)
        if call.unknown and self.edits.meeting(layer):
            raise Problem("layer {index} gives its weights only and cannot be changed", index=layer.index)
        changed = None if call.unknown else self.edits.changed(layer)
        if changed is None:
            return self.keep(layer, module, call, mask, kwargs)
        self.layers.append(self.with_norms(changed, module, values_are_known=changed.v is layer.v))
        return layer_output(changed).to(call.q.dtype), None
