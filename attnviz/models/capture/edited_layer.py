"""Apply edits to recorded layers. The result is a recorded layer too."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import MessageList, Problem, require_multiple
from attnviz.core.attention import scale_factor
from attnviz.models.capture.edit import (
    Edit,
    TensorChange,
    output_for,
    require_entry,
    resolve_layers,
    resolve_numbers,
    resolve_positions,
    rows_at,
)
from attnviz.models.capture.forward_pass import has_two_stacks, modules_by_name
from attnviz.models.capture.head_selection import broadcasts_to
from attnviz.models.capture.recorded_layer import MaskChoice, RecordedLayer, ScaleChoice


# An edit of a whole text as one of the passes that write it carries it out: each computes some positions only.
#
# A pass that goes on from a cache has other queries and other keys than a pass over the whole text. What holds for both
# is the place of each position in the text, so that is what an edit names; it is brought here into the pass's own.
@dataclass(frozen=True)
class TextSpan:
    """Positions in the whole text of one pass's queries and keys, and the length of the prompt in each.

    Negative positions count from the end of the prompt, whatever is generated after it.
    """

    queries: range
    keys: range  #: some may not be written yet: a cache of a fixed length has empty places behind
    prompt_length: int
    prompt_keys: int

    def query_position(self, position: int) -> int:
        return position if position >= 0 else self.prompt_length + position

    def key_position(self, position: int) -> int:
        return position if position >= 0 else self.prompt_keys + position

    def edited_rows(self, edit: Edit) -> list[int] | None:
        """Rows of this pass that an edit changes; None for all."""
        if edit.at == "all":
            return None
        wanted = {self.query_position(position) for position in resolve_numbers("at", edit.at, 0)}
        return [position - self.queries.start for position in sorted(wanted) if position in self.queries]


def edit_for_pass(edit: Edit, layer: RecordedLayer, span: TextSpan) -> Edit | None:
    """The edit with its positions counted within one pass; None if it changes nothing in that pass."""
    rows = span.edited_rows(edit)
    if rows == []:
        return None
    changes: dict[str, Any] = {"at": "all" if rows is None else rows}
    wanted = list(span.queries) if rows is None else [span.queries.start + row for row in rows]
    if edit.block:
        pairs = [(span.query_position(query), span.key_position(key)) for query, key in edit.block]
        here = [(query, key) for query, key in pairs if query in span.queries and key in span.keys]
        if not here and edit.given() == ["block"]:
            return None
        changes["block"] = [(query - span.queries.start, key - span.keys.start) for query, key in here]
    if edit.mask is None and is_causal(layer):
        raise Problem("{name} looks ahead of a position that is being written: leave that out of it", name="mask=None")
    for name in ("mask", "weights"):
        cells = getattr(edit, name)
        if isinstance(cells, Tensor):
            changes[name] = _crop_cells(name, cells, layer, span, wanted)
    output = output_for(edit, layer)
    if isinstance(output, Tensor):
        changes["output"] = rows_at("output", output, span.queries, wanted)
    return replace(edit, **changes)


def is_causal(layer: RecordedLayer) -> bool:
    """Whether the layer is decoder self-attention, which sees earlier positions only."""
    return layer.kind == "self" and layer.stack == "decoder"


def require_causal(layer: RecordedLayer, span: TextSpan) -> None:
    """Raise a Problem if an edit's function put weight on a position after its query."""
    if layer.set_weights is None or not is_causal(layer):
        return
    ahead = torch.tensor([[key > query for key in span.keys] for query in span.queries], device=layer.device)
    if bool((layer.set_weights.nan_to_num(0.0).ne(0) & ahead).any()):
        raise Problem("{name} looks ahead of a position that is being written: leave that out of it", name="weights")


def _crop_cells(name: str, cells: Tensor, layer: RecordedLayer, span: TextSpan, wanted: list[int]) -> Tensor:
    """Crop a mask or weights (.., T or 1, T or 1) of the whole text to a pass's queries and keys."""
    cut, count = rows_at(name, cells, span.queries, wanted), cells.shape[-1]
    if is_causal(layer):
        require_entry(name, count, wanted[-1])
        _require_visible_keys(name, cells, span, wanted)
    if count == 1:
        return cut
    places = torch.tensor(span.keys, device=cells.device)
    return cut[..., places.clamp(max=count - 1)] * (places < count)


def _require_visible_keys(name: str, cells: Tensor, span: TextSpan, wanted: list[int]) -> None:
    """Raise a Problem if a wanted query would see a key that is still to come, or dropped from the cache."""
    seen = cells if cells.shape[-1] > 1 else cells.expand(*cells.shape[:-1], wanted[-1] + 2)
    seen = seen if seen.shape[-2] == 1 else seen[..., wanted, :]
    keys, queries = torch.arange(seen.shape[-1], device=cells.device), torch.tensor(wanted, device=cells.device)
    if bool((seen.ne(0) & (keys > queries[:, None])).any()):
        raise Problem("{name} looks ahead of a position that is being written: leave that out of it", name=name)
    if bool(seen[..., : span.keys.start].any()):
        raise Problem("{name} looks at positions that this model's cache has dropped: leave them out of it", name=name)


LayerList = tuple[str, str, str]  #: tower, stack and kind


class EditedPass:
    """Applies the edits of one pass, or of all passes of a generation, and notes which layers each edit matched."""

    #: of a text that is written: which part of it a layer computes
    span_of: Callable[[RecordedLayer], TextSpan] | None = None

    def __init__(self, model: nn.Module, edits: tuple[Edit, ...]) -> None:
        for edit in edits:
            edit.must_name_a_change()
            resolve_layers(edit.layers)
            resolve_numbers("heads", edit.heads, 0)
        self.edits = edits
        self._two_stacks = has_two_stacks(model)
        self._model_name = type(model).__name__
        self._matches: dict[Edit, set[int | str]] = {edit: set() for edit in edits}
        self._towers: dict[tuple[Edit, int | str, str, str], set[str]] = {}  #: the towers in which an edit met a number
        self._counts: dict[LayerList, int] = {}  #: how many layers there are, by the modules' names
        self._run_counts: dict[LayerList, int] = {}  #: and how many ran
        self._names = [_name_pattern(name) for name in modules_by_name(model)]
        self._applied_edits: set[Edit] = set()  #: edits of which a position was computed

    def edit_layer(self, layer: RecordedLayer) -> RecordedLayer | None:
        """The layer after all edits that apply to it; None if none does."""
        edits = [edit for edit in self.edits if self._applies_to(edit, layer)]
        if edits and layer.why is not None:
            raise Problem("layer {index} gives its weights only and cannot be changed", index=layer.index)
        span = None if self.span_of is None else self.span_of(layer)
        changed, touched, rows = layer, set[int](), set[int]()
        for text_edit in edits:
            edit = text_edit if span is None else edit_for_pass(text_edit, layer, span)
            if edit is None:
                continue
            self._applied_edits.add(text_edit)
            heads, at = edit.heads_of(layer), _query_rows(edit, layer.shape[2])
            if edit.given() == ["block"]:  # a few cells of a long text: no other row is touched
                pairs = _resolve_block(layer, edit.block)
                pairs = pairs[torch.isin(pairs[:, 0], torch.tensor(at, device=layer.device))]
                changed = _block_cells(changed, heads, pairs)
                rows.update(pairs[:, 0].tolist())
                continue
            edited = apply_edit(edit, heads, changed, changed if touched.intersection(heads) else layer)
            changed = edited if edit.at == "all" else _merge_rows(at, heads, changed, edited)
            touched.update(heads if edit.change is not None else ())
            rows.update(at)
        if span is not None:
            require_causal(changed, span)
        if span is not None and changed.silenced and any(edit.at != "all" for edit in edits):
            # not in all passes: as outputs of 0, which can be joined with others
            changed = _merge_rows([*range(layer.shape[2])], sorted(changed.silenced), changed, changed)
        return replace(changed, rows=tuple(sorted(rows))) if rows else None

    def require_all_applied(self) -> None:
        """Raise a Problem for an edit whose layer or position did not occur in this pass."""
        for edit in self.edits:
            missing = [choice for choice in resolve_layers(edit.layers) if choice not in self._matches[edit]]
            if missing == ["all"]:
                raise Problem("{model} has no layer of this kind to change", model=self._model_name)
            if missing:
                raise Problem("{model} has no layer {missing} to change", model=self._model_name, missing=missing[0])
            if edit not in self._applied_edits:
                raise Problem(
                    "no position of at={at}, block={block} went through the model", at=edit.at, block=edit.block
                )
        for layer_list, count in self._counts.items():
            if count != self._run_counts[layer_list]:
                raise Problem(
                    "the layers of {model} cannot be counted from their end: {count} modules ran as {ran} layers",
                    model=self._model_name,
                    count=count,
                    ran=self._run_counts[layer_list],
                )

    def _count_layers(self, layer: RecordedLayer) -> int:
        """Number of layers of this kind: modules whose names differ in numbers only."""
        layer_list = (layer.tower, layer.stack, layer.kind)
        self._run_counts[layer_list] = max(self._run_counts.get(layer_list, 0), layer.index + 1)
        return self._names.count(_name_pattern(layer.name))

    def _applies_to(self, edit: Edit, layer: RecordedLayer) -> bool:
        """Whether the edit applies to the layer; raises a Problem for a number that two towers have."""
        count = self._count_layers(layer)
        chosen = edit.chosen_by(layer, count)
        self._matches[edit] |= chosen
        for number in chosen.intersection((layer.index, min(layer.index - count, -1))):
            if number != layer.index:
                self._counts[layer.tower, layer.stack, layer.kind] = count
            side = layer.stack if self._two_stacks else ""  # an edit of "either" stack means both of an encoder-decoder
            towers = self._towers.setdefault((edit, number, side, layer.kind), set())
            towers.add(layer.tower)
            if len(towers) > 1:
                raise Problem(
                    "layer {index} is in {towers}: say which, as tower",
                    index=number,
                    towers=MessageList(sorted(towers)),
                )
        return bool(chosen)


def _name_pattern(name: str) -> str:
    """Module name with # in place of each number."""
    return re.sub(r"\b\d+\b", "#", name)


def apply_edit(edit: Edit, heads: list[int], layer: RecordedLayer, source: RecordedLayer) -> RecordedLayer:
    """The layer after the edit of these heads. `edit.change` is called with the tensors of `source`."""
    output = output_for(edit, layer)
    if edit.change is not None:
        layer = _apply_function(layer, heads, edit.change, source)
    if not isinstance(edit.mask, str) or edit.mask != "model":
        layer = _set_mask(layer, heads, edit.mask)
    if edit.block:
        layer = _block_cells(layer, heads, _resolve_block(layer, edit.block))
    if edit.scale != "model" or edit.factor is not None:
        layer = _set_scale(layer, heads, edit.scale, 1.0 if edit.factor is None else edit.factor)
    if edit.uniform:
        layer = _set_uniform(layer, heads)
    if edit.weights is not None:
        new = _resolve_tensor("weights", edit.weights, layer.weights(heads))
        layer = replace(layer, set_weights=_insert_heads(layer.set_weights, new, heads, layer))
    if output is not None:
        new = _resolve_tensor("output", output, layer.head_outputs(heads))
        put = _insert_heads(layer.set_output, new, heads, layer)
        layer = replace(layer, set_output=put, silenced=layer.silenced - set(heads))
    if edit.silence:
        layer = replace(layer, silenced=layer.silenced | set(heads))
    return layer


def _resolve_block(layer: RecordedLayer, block: Collection[tuple[int, int]]) -> Tensor:
    """The (query, key) positions of `block` counted from 0, (n, 2); a Problem for one that the layer does not have."""
    pairs = torch.tensor([*block], dtype=torch.long, device=layer.device).reshape(-1, 2)
    sizes = pairs.new_tensor(layer.shape[2:])
    outside = ((pairs < -sizes) | (pairs >= sizes)).any(-1)
    if outside.any():
        raise Problem(
            "block holds {pair}; this layer has {queries} queries and {keys} keys",
            pair=tuple(pairs[outside][0].tolist()),
            queries=int(sizes[0]),
            keys=int(sizes[1]),
        )
    return pairs % sizes


def _block_cells(layer: RecordedLayer, heads: list[int], pairs: Tensor) -> RecordedLayer:
    """The layer with (query, key) positions (n, 2) hidden in the heads; no mask of all positions is made of them."""
    of_heads = torch.tensor(heads, device=layer.device).repeat_interleave(len(pairs))[:, None]
    cells = torch.cat([of_heads, pairs.repeat(len(heads), 1)], 1)
    return replace(layer, blocked=cells if layer.blocked is None else torch.cat([layer.blocked, cells]))


def _resolve_tensor(name: str, value: Tensor | Callable[[Tensor], Tensor], original: Tensor) -> Tensor:
    """Replacement for the `original` weights or outputs, in their shape: `value`, or the result of calling it."""
    new = value(original.clone()) if callable(value) else value
    if not isinstance(new, Tensor) or not broadcasts_to(tuple(new.shape), tuple(original.shape)):
        shape = tuple(new.shape) if isinstance(new, Tensor) else type(new).__name__
        raise Problem(
            "{name} has shape {shape}; it must broadcast to {wanted}",
            name=name,
            shape=shape,
            wanted=tuple(original.shape),
        )
    return new.to(original).expand_as(original)


def _insert_heads(
    before: Tensor | None, new: Tensor, heads: list[int], layer: RecordedLayer, at: Sequence[int] = ()
) -> Tensor:
    """`before`, or NaN, with `new` at these heads and queries, (B, H, Q, K or Dv); `at` empty: at all queries."""
    b, n_heads, q_len, _ = layer.shape
    merged = new.new_full((b, n_heads, q_len, new.shape[-1]), torch.nan) if before is None else before.clone()
    rows = torch.tensor(at or range(q_len), device=merged.device)
    merged[:, torch.tensor(heads, device=merged.device)[:, None], rows] = new.to(merged)[:, :, rows]
    return merged


def _query_rows(edit: Edit, q_len: int) -> list[int]:
    """Query positions that an edit changes, counted from 0."""
    rows = resolve_positions(edit) or list(range(q_len))
    if any(not -q_len <= row < q_len for row in rows):
        raise Problem("at={at} must be positions of {count} queries", at=rows, count=q_len)
    return [row % q_len for row in rows]


def _merge_rows(rows: list[int], heads: list[int], layer: RecordedLayer, changed: RecordedLayer) -> RecordedLayer:
    """`layer` with the weights and outputs that `changed` has at these heads and query positions."""
    weights = _insert_heads(layer.set_weights, changed.weights(heads), heads, layer, rows)
    output = layer.set_output
    if quiet := sorted(layer.silenced.intersection(heads)):  # they stay silent at all other positions
        output = _insert_heads(output, torch.zeros_like(changed.head_outputs(quiet)), quiet, layer)
    output = _insert_heads(output, changed.head_outputs(heads), heads, layer, rows)
    return replace(layer, set_weights=weights, set_output=output, silenced=layer.silenced - set(heads))


def _set_scale(layer: RecordedLayer, heads: list[int], scale: ScaleChoice, factor: float) -> RecordedLayer:
    scales = [layer.scale_of(head) for head in range(layer.n_heads)]
    for head in heads:
        scales[head] = (scales[head] if scale == "model" else scale_factor(scale, layer.qkv[0].shape[-1])) * factor
    return replace(layer, scales=tuple(scales))


def _set_uniform(layer: RecordedLayer, heads: list[int]) -> RecordedLayer:
    """Set all scores to 0, so that softmax gives every key that may be seen the same weight."""
    layer = _set_scale(layer, heads, "model", 0.0)
    bias, sinks = layer.bias, layer.sinks
    if bias is not None:
        bias = bias.expand(*bias.shape[:-3], layer.n_heads, -1, -1).clone()
        bias[..., heads, :, :] = 0.0
    if sinks is not None:
        sinks = sinks.clone()
        sinks[heads] = -torch.inf
    return replace(layer, bias=bias, sinks=sinks)


def _set_mask(layer: RecordedLayer, heads: list[int], mask: MaskChoice) -> RecordedLayer:
    allowed = layer.mask_for(mask, len(heads))
    if heads != list(range(layer.n_heads)):
        b, n_heads, q_len, k_len = layer.shape
        new = allowed.expand(b, len(heads), q_len, k_len)
        allowed = layer.mask.expand(b, n_heads, q_len, k_len).clone()
        allowed[:, heads] = new
    return replace(layer, allowed=allowed, causal=False, blocked=None)


def _apply_function(
    layer: RecordedLayer, chosen: list[int], change: TensorChange, source: RecordedLayer
) -> RecordedLayer:
    # copies: a function that writes into them must reach neither other heads nor the caller's cache
    replacements = change(*(tensor.clone() for tensor in source.qkv))
    if (
        not isinstance(replacements, tuple | list)
        or len(replacements) != 3
        or not all(isinstance(t, Tensor) for t in replacements)
    ):
        raise Problem("the function must return three tensors: q, k and v")
    for name, new in zip("qkv", replacements, strict=True):
        if new.dim() != 4:
            raise Problem(
                "the function returned {name} of shape {shape}; it must have 4 dimensions",
                name=name,
                shape=tuple(new.shape),
            )
    q, k, v = (new.to(old.dtype) for old, new in zip(layer.qkv, replacements, strict=True))
    b, heads, q_len, k_len = layer.shape
    if k.shape[1] and v.shape[1] and heads % lcm(k.shape[1], v.shape[1]) == 0:
        shared = lcm(k.shape[1], v.shape[1])  # keys may be shared by more heads than values are, or by fewer
        k, v = (t.repeat_interleave(shared // t.shape[1], 1) for t in (k, v))
    q_width, v_width = layer.qkv[0].shape[-1], layer.qkv[2].shape[-1]
    _require_shape("q", q, (b, heads, q_len, k.shape[-1]))
    _require_shape("k", k, (b, v.shape[1], k_len, k.shape[-1]))
    _require_shape("v", v, (b, k.shape[1], k_len, v_width))
    require_multiple("n_heads", heads, "n_kv_heads", k.shape[1])
    if chosen != list(range(heads)):
        _require_shape("q", q, (b, heads, q_len, q_width))
        q, k, v = (_merge_heads(old, new, chosen, heads) for old, new in zip(layer.qkv, (q, k, v), strict=True))
    return replace(layer, q=q, k=k, v=v)


def _merge_heads(old: Tensor, new: Tensor, chosen: list[int], heads: int) -> Tensor:
    """`new` for the chosen heads and `old` for the others, one entry per query head: (B, H, T, D)."""
    mixed = old.repeat_interleave(heads // old.shape[1], 1)
    mixed[:, chosen] = new.repeat_interleave(heads // new.shape[1], 1)[:, chosen]
    return mixed


def _require_shape(name: str, tensor: Tensor, wanted: tuple[int, ...]) -> None:
    if tuple(tensor.shape) != wanted:
        raise Problem(
            "the function returned {name} of shape {shape}; it must be {wanted}",
            name=name,
            shape=tuple(tensor.shape),
            wanted=wanted,
        )
