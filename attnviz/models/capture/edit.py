"""Edits of a model's attention or residual stream, and the hooks that edit the stream."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from numbers import Real
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from attnviz.base.message import MessageList, Problem
from attnviz.core.attention import Scale
from attnviz.models.capture.forward_pass import (
    attach_hooks,
    block_name,
    is_within,
    modules_by_name,
    parent_name,
    replace_hidden,
    this_thread_only,
)
from attnviz.models.capture.head_selection import broadcasts_to, resolve_heads, to_whole_numbers
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.trace import Trace

NumberChoice = int | Collection[int] | Literal["all"]
LayerChoice = NumberChoice | str | Collection[int | str]
NewOutput = Tensor | Callable[[Tensor], Tensor] | Trace | Mapping[str, Tensor]
NewStream = Tensor | Callable[[Tensor], Tensor] | Trace
TensorChange = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


#: the fields of an edit that change heads
CHANGES = ("mask", "scale", "factor", "uniform", "silence", "change", "weights", "block", "output")


@dataclass(frozen=True, eq=False, repr=False)
class Edit:
    """One change of a model's attention: what, and where. A later edit of a pass overrides an earlier one.

    `layers` and `heads` count from 0, negative ones from the end: -1 is the last. `layers` count within the same tower,
    stack and kind, like `RecordedLayer.index`.
    `layers` may also be dotted module names: of attention layers, or of modules that contain them. `tower` is the
    dotted name of a list of layers, or of a module that contains it. It is required where several towers have a layer
    of that number, unless `stack` tells them apart or they are an encoder and its decoder. `run` selects one run of a
    module that runs several times in a pass, for several images or as several layers.
    `mask` replaces the model's pattern as in `RecordedLayer.weights`. `scale` replaces the number that
    multiplies q.kT; `factor` multiplies the model's own. `change` is called with copies of q (B, H, Q, D),
    k (B, G, K, D) and v (B, G, K, Dv) of the whole layer. It returns replacements, which are used for the chosen
    heads; it may return fewer key/value heads. If an earlier `change` had some of the same heads, it gets the changed
    tensors, with one key/value head per query head (G = H) if only some heads were changed.

    `weights` broadcasts to (B, H', Q, K), H' being the chosen heads, and need not sum to 1. `output` broadcasts to
    (B, H', Q, Dv). It may also be a function of the original outputs, or a `Trace` of another pass (activation
    patching). For mean ablation it is a mapping from layer names to (H, 1 or Q, Dv), as `mean_outputs` returns. Dropout
    is not applied in a changed layer, even in training.

    `at` names the query positions that change, whatever the change is; negative ones count from the end. At all others
    the layer's output is the model's own, to the last bit. An edit has to name a change, and only one of
    `silence` and `output`, of `scale` and `factor`, and of `uniform`, `weights` and a scale.

    In a generation under an edit (`intervene(model.generate, ...)`), positions are those of the whole text, prompt and
    generated tokens. That holds for `at` and `block`, and for a `mask`, `weights`, `output` or `stream` with an entry
    for each. Negative ones count from the end of the prompt. A function is called with the new positions of each pass.

    `stream` changes no head: it replaces the residual stream at the input of the layers' blocks. It is a tensor that
    broadcasts to (B, Q, M), a function of the original stream, or a `Trace` with `residual` of another pass. It needs
    an edit of its own.
    """

    layers: LayerChoice = "all"
    heads: NumberChoice = "all"
    stack: Literal["encoder", "decoder"] | None = None  #: None: either
    kind: Literal["self", "cross"] = "self"
    mask: Tensor | Literal["model"] | None = "model"
    scale: Scale | Literal["model"] = "model"
    factor: float | None = None  #: None, like 1: none
    uniform: bool = False  #: give every key that may be seen the same weight
    silence: bool = False  #: replace the heads' input to the output projection by 0
    change: TensorChange | None = None
    weights: Tensor | Callable[[Tensor], Tensor] | None = None  #: these weights, or a function of the model's own
    block: Collection[tuple[int, int]] = ()  #: (query, key) positions that may not be seen; -1 is the last
    output: NewOutput | None = None  #: the heads' outputs, in place of weights times values
    at: NumberChoice = "all"  #: the query positions that change
    tower: str | None = None  #: None: any
    run: int | None = None  #: None: every
    stream: NewStream | None = None  #: the residual stream at the input of the layer's block, (B, Q, M)

    def __repr__(self) -> str:
        values = [(field.name, getattr(self, field.name)) for field in fields(self)]
        changed = (f"{name}={_short_repr(value)}" for name, value in values if value is not getattr(Edit, name))
        return f"Edit({', '.join(changed)})"

    def must_name_a_change(self) -> None:
        """Raise a Problem if the edit names no change, or two that exclude each other."""
        changes = self.given()
        if not changes:
            raise Problem("this edit names no change: give one of {changes}", changes=MessageList([*CHANGES, "stream"]))
        for either in (
            ("silence", "output"),
            ("uniform", "weights"),
            ("uniform", "scale"),
            ("uniform", "factor"),
            ("scale", "factor"),
        ):
            if set(either) <= set(changes):
                raise Problem("{one} and {other} exclude each other: give one of them", one=either[0], other=either[1])

    def given(self) -> list[str]:
        """Names of the changes that differ from their defaults."""
        values = ((name, getattr(self, name)) for name in CHANGES)
        return [name for name, value in values if isinstance(value, Tensor) or value != getattr(Edit, name)]

    @property
    def of_stream(self) -> bool:
        """Whether it changes the residual stream; raises a Problem if it also changes heads."""
        if self.stream is None:
            return False
        if head_changes := [*(["heads"] if self.heads != "all" else []), *self.given()]:
            raise Problem(
                "an edit with stream changes no head: give {others} in another one", others=MessageList(head_changes)
            )
        return True

    def chosen_by(self, layer: RecordedLayer, count: int) -> set[int | str]:
        """Entries of `layers` that select this layer out of `count`; empty if the edit does not apply to it."""
        in_tower = self.tower is None or is_within(layer.tower, self.tower)
        if not in_tower or self.run not in (None, layer.run):
            return set()
        choices = resolve_layers(self.layers)
        if layer.name in choices:  # the module itself, whatever its kind
            return {layer.name}
        if self.kind != layer.kind or self.stack not in (None, layer.stack):
            return set()
        numbers = ("all", layer.index, layer.index - count if layer.index < count else "all")
        return {choice for choice in choices if choice in numbers or is_within(layer.name, choice)}

    def heads_of(self, layer: RecordedLayer) -> list[int]:
        """Indices of the chosen heads of this layer, counted from 0."""
        return sorted(
            set(resolve_heads(resolve_numbers("heads", self.heads, layer.n_heads), layer.n_heads, layer.index))
        )


def _short_repr(value: Any) -> str:
    """Short repr of a value: the shape of a tensor, the type of a function or a trace."""
    if isinstance(value, Tensor):
        return f"tensor{tuple(value.shape)}"
    plain = isinstance(value, str | int | float | Collection) and not isinstance(value, Mapping)
    return repr(value)[:60] if plain and not isinstance(value, Trace) else f"<{type(value).__name__}>"


def resolve_layers(choice: LayerChoice) -> list[int | str]:
    """List of the chosen layer numbers and names; "all" stays as one entry."""
    if isinstance(choice, str):
        return [choice]
    several = list(choice) if isinstance(choice, Collection) else []
    names: list[int | str] = [entry for entry in several if isinstance(entry, str)]
    numbers: Any = [entry for entry in several if not isinstance(entry, str)] if names else choice
    return names if names and not numbers else names + list(resolve_numbers("layers", numbers, 0))


def resolve_numbers(name: str, choice: NumberChoice, count: int) -> Sequence[int]:
    """Chosen numbers, with "all" as those below `count`; raises a Problem that names the field for anything else."""
    if isinstance(choice, str) and choice == "all":
        return range(count)
    numbers = None if isinstance(choice, Iterator) else to_whole_numbers(choice)  # which could be read only once
    if numbers is None:
        raise Problem('{name}={choice} must be a number, several numbers, or "all"', name=name, choice=repr(choice))
    if not numbers:
        raise Problem('{name} is empty: name at least one, or "all"', name=name)
    return numbers


def resolve_positions(edit: Edit) -> list[int] | None:
    """Query positions of `at`; None for all."""
    return None if edit.at == "all" else list(resolve_numbers("at", edit.at, 0))


def output_for(edit: Edit, layer: RecordedLayer) -> Tensor | Callable[[Tensor], Tensor] | None:
    """Replacement for the outputs of the edit's heads in this layer: a tensor or a function; None without one."""
    source, heads = edit.output, edit.heads_of(layer)
    if isinstance(source, Trace):
        same = next((recorded for recorded in source.layers if recorded.place == layer.place), None)
        if same is None:
            raise Problem("the trace that output is taken from has no layer {name}", name=layer.name)
        return same.head_outputs(heads)
    if isinstance(source, Mapping):
        if layer.name not in source:
            raise Problem("output has nothing for the layer {name}", name=layer.name)
        return source[layer.name][heads]
    return source


def require_entry(name: str, count: int, position: int) -> None:
    """Raise a Problem if a tensor with entries for `count` positions has none for `position`."""
    if 1 < count <= position:
        raise Problem(
            "{name} is made for {count} positions and position {position} is to be changed: say which, as at",
            name=name,
            count=count,
            position=position,
        )


def rows_at(name: str, values: Tensor, queries: range, wanted: Sequence[int]) -> Tensor:
    """Rows of `values` (.., T or 1, N) at a pass's query positions; those `wanted` must exist."""
    if values.dim() < 2 or values.shape[-2] == 1:
        return values
    require_entry(name, values.shape[-2], max(wanted))
    return values[..., torch.tensor(queries, device=values.device).clamp(max=values.shape[-2] - 1), :]


NamedBlock = tuple[str, nn.Module]
#: from a block's name and its stream (B, Q, M) to the positions in the text, and the length of the prompt
StreamLocator = Callable[[str, Tensor], tuple[range, int]]


def whole_text(_: str, stream: Tensor) -> tuple[range, int]:
    """Positions of a single pass: all of its text."""
    return range(stream.shape[1]), stream.shape[1]


@contextmanager
def edit_streams(model: nn.Module, edits: Sequence[Edit], locate: StreamLocator = whole_text) -> Iterator[None]:
    """Apply the `stream` of each edit at its blocks' input, for this thread's passes inside the block."""
    hooks = (
        block.register_forward_pre_hook(
            this_thread_only(partial(_edit_block_input, edit, name, met, locate)), with_kwargs=True
        )
        for edit in edits
        for met, (name, block) in _select_blocks(model, edit)
    )
    with attach_hooks(hooks):
        yield


class _MetTowers(NamedTuple):
    """The lists of blocks in which one choice of layers was met: a picture's tower is not, where a text runs alone."""

    choice: int | str
    towers: set[str]


def _select_blocks(model: nn.Module, edit: Edit) -> list[tuple[_MetTowers, NamedBlock]]:
    """Blocks that an edit names by number or module name; raises a Problem if one does not exist."""
    lists = list_blocks(model, edit.tower)
    chosen: list[tuple[_MetTowers, NamedBlock]] = []
    for choice in resolve_layers(edit.layers):
        if isinstance(choice, str) and choice != "all":
            named = [block for blocks in lists.values() for block in blocks if is_within(block[0], choice)]
        else:
            named = []
            for blocks in lists.values():
                number = len(blocks) + choice if isinstance(choice, int) and choice < 0 else choice
                named += [block for block in blocks if choice == "all" or block[0].rpartition(".")[2] == str(number)]
        if not named:
            raise Problem("{model} has no layer {missing} to change", model=type(model).__name__, missing=choice)
        met = _MetTowers(choice, set())
        chosen += [(met, block) for block in named]
    return chosen


def list_blocks(model: nn.Module, tower: str | None) -> dict[str, list[NamedBlock]]:
    """Outermost numbered modules by the dotted name of their list; of one tower if it is given."""
    lists: dict[str, list[NamedBlock]] = {}
    for name, module in modules_by_name(model).items():
        is_block = bool(name) and block_name(name) == name and any(True for _ in module.children())
        if is_block and (tower is None or is_within(parent_name(name), tower)):
            lists.setdefault(parent_name(name), []).append((name, module))
    return lists


def _edit_block_input(
    edit: Edit,
    name: str,
    met: _MetTowers,
    locate: StreamLocator,
    _: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Forward pre-hook: edit the hidden states of a block's input."""
    met.towers.add(parent_name(name))
    if len(met.towers) > 1 and (met.choice == "all" or not isinstance(met.choice, str)):
        raise Problem(
            "layer {index} is in {towers}: say which, as tower",
            index=met.choice,
            towers=MessageList(sorted(met.towers)),
        )
    return replace_hidden(name, lambda stream: _edit_stream(edit, name, stream, locate), args, kwargs)


def _edit_stream(edit: Edit, name: str, stream: Tensor, locate: StreamLocator) -> Tensor:
    """Stream (B, Q, M) with the edit applied at its positions."""
    source = edit.stream
    if isinstance(source, Trace):
        found = None if source.residual is None else source.residual.stream_at(name)
        if found is None:
            raise Problem(
                "the trace that stream is taken from has none at {name}: capture it with residual=True", name=name
            )
        source = found
    here, first = locate(name, stream)
    every = resolve_positions(edit)
    if locate is whole_text and any(not -len(here) <= row < len(here) for row in every or ()):
        raise Problem("at={at} must be positions of a stream of {count} tokens", at=every, count=len(here))
    wanted = list(here) if every is None else [row if row >= 0 else first + row for row in every]
    wanted = [position for position in wanted if position in here]
    if not wanted:
        return stream
    new: Any = source(stream.clone()) if callable(source) else source
    if isinstance(new, Tensor) and new is source and locate is not whole_text:
        new = rows_at("stream", new, here, wanted)
    if not isinstance(new, Tensor) or not broadcasts_to(tuple(new.shape), tuple(stream.shape)):
        shape = tuple(new.shape) if isinstance(new, Tensor) else type(new).__name__
        raise Problem(
            "stream has shape {shape}; it must broadcast to {wanted}", shape=shape, wanted=tuple(stream.shape)
        )
    rows, edited = [position - here.start for position in wanted], stream.clone()
    edited[:, rows] = new.to(stream).expand_as(stream)[:, rows]
    return edited


# The usual edits, each with a name of its own.
def silence(layer: LayerChoice = "all", head: NumberChoice = "all", at: NumberChoice = "all", **where: Any) -> Edit:
    """Edit that sets these heads' outputs to 0. `where` is any of `stack`, `kind`, `tower` and `run` of an `Edit`."""
    return _make_edit(layer, head, at, where, silence=True)


def patch(
    layer: LayerChoice = "all",
    head: NumberChoice = "all",
    *,
    source: NewOutput,
    at: NumberChoice = "all",
    **where: Any,
) -> Edit:
    """Edit that replaces these heads' outputs by those of `source`, the trace of another pass.

    `source` may also be the means of `mean_outputs`, a tensor, or a function of the original outputs. `where` as in
    `ablate`.
    """
    return _make_edit(layer, head, at, where, output=source)


def rescale(
    layer: LayerChoice = "all",
    head: NumberChoice = "all",
    *,
    factor: float | None = None,
    scale: Scale | Literal["model"] = "model",
    at: NumberChoice = "all",
    **where: Any,
) -> Edit:
    """Edit that multiplies these heads' scores by `factor`, or replaces the model's scale by `scale`.

    `where` as in `ablate`.
    """
    if factor is not None and not isinstance(factor, Real):
        raise Problem("factor={factor} must be a number", factor=repr(factor))
    return _make_edit(layer, head, at, where, factor=factor, scale=scale)


def remask(
    layer: LayerChoice = "all",
    head: NumberChoice = "all",
    *,
    mask: Tensor | Literal["model"] | None = "model",
    block: Collection[tuple[int, int]] = (),
    at: NumberChoice = "all",
    **where: Any,
) -> Edit:
    """Edit that replaces these heads' mask, or hides the (query, key) positions of `block`.

    In `mask` True means visible; None shows everything but padding. `where` as in `ablate`.
    """
    return _make_edit(layer, head, at, where, mask=mask, block=block)


def ablate(
    layer: LayerChoice = "all",
    head: NumberChoice = "all",
    *,
    by: Literal["zero", "mean", "resample"] = "zero",
    source: NewOutput | None = None,
    at: NumberChoice = "all",
    **where: Any,
) -> Edit:
    """Edit that replaces these heads' outputs by 0, by their means, or by those of another prompt.

    "mean" takes the means of `mean_outputs` as `source`. "resample" takes the trace of another prompt, or without a
    `source` the row before in the batch. `where` is any of `stack`, `kind`, `tower` and `run` of an `Edit`.
    """
    if by not in ("zero", "mean", "resample") or (
        (source is None) != (by == "zero") and (by, source) != ("resample", None)
    ):
        raise Problem('by={by} must be "zero" without a source, or "mean" or "resample" with one', by=repr(by))
    if by == "zero":
        return silence(layer, head, at, **where)
    return patch(layer, head, source=_row_before if source is None else source, at=at, **where)


def _row_before(own: Tensor) -> Tensor:
    return own.roll(1, 0)


def knockout(
    layer: LayerChoice = "all",
    head: NumberChoice = "all",
    *,
    queries: int | Collection[int],
    keys: int | Collection[int],
    **where: Any,
) -> Edit:
    """Edit that hides these keys from these queries in the heads (attention knockout); -1 is the last position.

    `where` as in `ablate`.
    """
    pairs = product(resolve_numbers("queries", queries, 0), resolve_numbers("keys", keys, 0))
    return remask(layer, head, block=tuple(pairs), **where)


def steer(layer: LayerChoice, vector: Tensor, *, factor: float = 1.0, at: NumberChoice = "all") -> Edit:
    """Edit that adds `factor` times a vector (M,) to the residual stream at the input of the layer's block."""
    if not isinstance(vector, Tensor) or not vector.is_floating_point():
        raise Problem("vector must be a tensor as wide as the stream, not {given}", given=type(vector).__name__)
    return Edit(layers=layer, stream=partial(_add_vector, vector * factor), at=at)


def _add_vector(vector: Tensor, stream: Tensor) -> Tensor:
    if not broadcasts_to(vector.shape, stream.shape):
        raise Problem(
            "vector must be as wide as the stream: {width}, not {given}",
            width=stream.shape[-1],
            given="x".join(map(str, vector.shape)),
        )
    return stream + vector.to(stream)


def _make_edit(layer: LayerChoice, head: NumberChoice, at: NumberChoice, where: dict[str, Any], **change: Any) -> Edit:
    if plural := {"layers", "heads", "positions"} & where.keys():
        raise Problem("{name}= is not taken here: it is layer=, head= and at=, of one or of several", name=min(plural))
    edit = Edit(layer, head, at=at, **where, **change)
    edit.must_name_a_change()
    return edit
