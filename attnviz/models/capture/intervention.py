"""Run a model with its attention changed, to see how later layers and the output respond.

>>> after = intervene(model, [Edit(layers=3, heads=(0, 5), silence=True)], input_ids=ids)
>>> after.logits - capture(model, input_ids=ids).logits
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from torch import Tensor, nn

from attnviz.core.attention import Scale
from attnviz.core.message import Problem
from attnviz.models.capture.adapter import takes_interface
from attnviz.models.capture.adapter_check import must_hold
from attnviz.models.capture.attention_call import Answer, Call
from attnviz.models.capture.compiled import unwrapped
from attnviz.models.capture.edited_layer import Plan, carry_out, layer_output
from attnviz.models.capture.forward_pass import Logits
from attnviz.models.capture.head_selection import chosen_heads, whole_number
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.run import record
from attnviz.models.capture.trace import Trace

NumberChoice = int | Collection[int] | Literal["all"]
LayerChoice = NumberChoice | str | Collection[int | str]
NewOutput = Tensor | Callable[[Tensor], Tensor] | Trace | Mapping[str, Tensor]
TensorChange = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class Edit:
    """What to change, and where. Edits are applied in the order given, so a later edit overrides an earlier one.

    `layers` and `heads` count from 0; `layers` within the same tower, stack and kind, like `RecordedLayer.index`.
    `layers` may also be dotted module names: of attention layers, or of modules that contain them. `tower` is the
    dotted name of a list of layers or of a module that contains it, and is required where several towers have a
    layer of that number, unless `stack` tells them apart or they are an encoder and its decoder. `run` selects one
    of the runs of a module that runs several times in a pass, for several images or as several layers.
    `mask` replaces the model's pattern as in `RecordedLayer.weights`. `scale` replaces the number that
    multiplies q.kT; `factor` multiplies the model's own. `change` is called with copies of q (B, H, Q, D),
    k (B, G, K, D) and v (B, G, K, Dv) of the whole layer and returns replacements, which are used for the chosen
    heads; it may return fewer key/value heads. It is given the model's own tensors unless an earlier `change` had
    some of the same heads; then it is given the changed ones, with one key/value head per query head (G = H) if
    only some heads were changed.

    `weights` broadcasts to (B, H', Q, K), H' being the chosen heads, and need not sum to 1. `output` broadcasts to
    (B, H', Q, Dv); or it is a function of what the heads hand on themselves, a `Trace` of another pass (activation
    patching), or a mapping from layer names to (H, 1 or Q, Dv), such as `mean_outputs` makes (mean ablation). Dropout
    is not applied in a changed layer, even in training.
    """

    layers: LayerChoice = "all"
    heads: NumberChoice = "all"
    stack: Literal["encoder", "decoder"] | None = None  #: None: either
    kind: Literal["self", "cross"] = "self"
    mask: Tensor | Literal["model"] | None = "model"
    scale: Scale | Literal["model"] = "model"
    factor: float = 1.0
    uniform: bool = False  #: give every key that may be seen the same weight
    silence: bool = False  #: replace the heads' input to the output projection by 0
    change: TensorChange | None = None
    weights: Tensor | Callable[[Tensor], Tensor] | None = None  #: these weights, or a function of the model's own
    block: Collection[tuple[int, int]] = ()  #: (query, key) positions that may not be seen; -1 is the last
    output: NewOutput | None = None  #: what the heads hand on, in place of weights times values
    at: NumberChoice = "all"  #: the query positions at which `weights` and `output` are put
    tower: str | None = None  #: None: any
    run: int | None = None  #: None: every

    def chosen_by(self, layer: RecordedLayer) -> set[int | str]:
        """The entries of `layers` that select this layer; empty if the edit does not apply to it."""
        in_tower = self.tower is None or _within(layer.tower, self.tower)
        if not in_tower or self.run not in (None, layer.run):
            return set()
        choices = _layers(self.layers)
        if layer.name in choices:  # the module itself, whatever its kind
            return {layer.name}
        if self.kind != layer.kind or self.stack not in (None, layer.stack):
            return set()
        return {each for each in choices if each in ("all", layer.index) or _within(layer.name, each)}

    def heads_of(self, layer: RecordedLayer) -> list[int]:
        return sorted(set(chosen_heads(_numbers("heads", self.heads, layer.n_heads), layer.n_heads, layer.index)))


def intervene(model: nn.Module, edits: Edit | Sequence[Edit], *, logits: Logits = "last", **inputs: Any) -> Trace:
    """The same pass as `capture`, with `edits` applied; the trace records the changed attention."""
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
    """A recorder that answers the attention calls of edited layers with the changed attention."""

    def __init__(self, model: nn.Module, edits: tuple[Edit, ...]) -> None:
        super().__init__(model)
        for edit in edits:
            _layers(edit.layers)
            _numbers("heads", edit.heads, 0)
        self.edits = edits
        self.model_name = type(model).__name__
        self.met: dict[Edit, set[int | str]] = {edit: set() for edit in edits}
        self.places: dict[tuple[Edit, int, str, str], set[str]] = {}  #: the towers in which an edit met a number

    def answer(self, module: nn.Module, call: Call, mask: Tensor | None, kwargs: dict[str, Any]) -> Answer:
        layer = self.describe(module, call)
        edits = [edit for edit in self.edits if self._meets(edit, layer)]
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
        """Raise a Problem for an edit of a layer that did not run in this pass."""
        for edit in self.edits:
            missing = [each for each in _layers(edit.layers) if each not in self.met[edit]]
            if missing == ["all"]:
                raise Problem("{model} has no layer of this kind to change", model=self.model_name)
            if missing:
                raise Problem("{model} has no layer {missing} to change", model=self.model_name, missing=missing[0])

    def _meets(self, edit: Edit, layer: RecordedLayer) -> bool:
        """Whether the edit applies to the layer. A number that two towers have is refused: it would change both."""
        chosen = edit.chosen_by(layer)
        self.met[edit] |= chosen
        if layer.index in chosen:
            side = layer.stack if self._two_stacks else ""  # an edit of "either" stack means both of an encoder-decoder
            towers = self.places.setdefault((edit, layer.index, side, layer.kind), set())
            towers.add(layer.tower)
            if len(towers) > 1:
                raise Problem(
                    "layer {index} is in {towers}: say which, as tower",
                    index=layer.index,
                    towers=", ".join(sorted(towers)),
                )
        return bool(chosen)


def plan(edit: Edit, layer: RecordedLayer) -> Plan:
    """The edit as it applies to this layer, with the chosen heads as a list."""
    heads = edit.heads_of(layer)
    at = None if edit.at == "all" else list(_numbers("at", edit.at, 0))
    return Plan(
        heads,
        edit.mask,
        edit.scale,
        edit.factor,
        edit.uniform,
        edit.silence,
        edit.change,
        edit.weights,
        edit.block,
        _output(edit.output, layer, heads),
        at,
    )


def _output(
    given: NewOutput | None, layer: RecordedLayer, heads: list[int]
) -> Tensor | Callable[[Tensor], Tensor] | None:
    """What the edit puts in the place of these heads' outputs."""
    if isinstance(given, Trace):
        found = [other for other in given.layers if other.place == layer.place]
        if not found:
            raise Problem("the trace that output is taken from has no layer {name}", name=layer.name)
        return found[0].head_outputs(heads)
    if isinstance(given, Mapping):
        if layer.name not in given:
            raise Problem("output has nothing for the layer {name}", name=layer.name)
        return given[layer.name][heads]
    return given


def _within(name: str, above: int | str) -> bool:
    """Whether a module is `above` or below it, by their dotted names."""
    return name == above or (isinstance(above, str) and name.startswith(f"{above}."))


def _layers(choice: LayerChoice) -> list[int | str]:
    """The numbers and names chosen, one by one; "all" is one."""
    if isinstance(choice, str):
        return [choice]
    several = list(choice) if isinstance(choice, Collection) else []
    names: list[int | str] = [each for each in several if isinstance(each, str)]
    if names and len(names) == len(several):
        return names
    numbers = [each for each in several if not isinstance(each, str)] if names else choice
    return names + list(_numbers("layers", cast(NumberChoice, numbers), 0))


def _numbers(name: str, choice: NumberChoice, count: int) -> Collection[int]:
    """The numbers chosen, "all" being those below `count`; anything else is refused by the name of its field."""
    if isinstance(choice, str) and choice == "all":
        return range(count)
    try:
        return (whole_number(choice),)
    except TypeError:
        pass
    if isinstance(choice, Collection) and not isinstance(choice, str):
        if len(choice) == 0:
            raise Problem('{name} is empty: name at least one, or "all"', name=name)
        try:
            return [whole_number(number) for number in choice]
        except TypeError:
            pass
    raise Problem('{name}={choice} must be a number, several numbers, or "all"', name=name, choice=repr(choice))
