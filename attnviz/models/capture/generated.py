"""Record all passes of a model's own `generate` and join them into one trace of the whole text."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture.adapter import is_transformers, switch_implementation, uses_interface
from attnviz.models.capture.attention_call import listen_to_calls
from attnviz.models.capture.edit import Edit, edit_streams
from attnviz.models.capture.edited_layer import EditedPass, TextSpan
from attnviz.models.capture.forward_pass import (
    Logits,
    attach_hooks,
    disable_compile,
    is_within,
    select_ids_and_masks,
    this_thread_only,
    unwrap_model,
)
from attnviz.models.capture.plain_torch import find_logits, record_calls
from attnviz.models.capture.recorded_layer import LayerKey, RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.trace import Trace


def record_generation(
    method: Callable[..., Any],
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    edits: Sequence[Edit] = (),
) -> Trace:
    """Record every pass that a model's `method` makes, each under the same edits, as one trace.

    Its queries are all positions that went through the model. `logits` "last" are those of the last pass, "all"
    those of every pass at its last position, (B, passes, V).
    """
    owner = getattr(method, "__self__", None)
    model = unwrap_model(owner if isinstance(owner, nn.Module) else method)
    if uses_interface(model):
        recorder = Recorder(model)
        with (
            disable_compile(model),
            switch_implementation(model),
            listen_to_calls(recorder),
            _record_steps(model, recorder, edits) as steps,
        ):
            written = method(*args, **inputs)
    elif is_transformers(model):
        raise Problem(
            "{model} computes attention in its own way; its steps cannot be joined. Capture one pass over its text",
            model=type(model).__name__,
        )
    else:
        with record_calls(model) as recorder, _record_steps(model, recorder, edits) as steps:
            written = method(*args, **inputs)
    steps.end_pass()
    steps.changes.require_all_applied()
    return steps.build_trace(written, logits, _bind_arguments(method, args, inputs))


class _Steps:
    """Joined layers and logits of all passes so far."""

    def __init__(self, recorder: Recorder, changes: EditedPass) -> None:
        self._recorder, self.changes = recorder, changes
        self._layers: dict[LayerKey, JoinedLayer] = {}
        self._prompt_lengths: dict[LayerKey | str, int] = {}  # how many positions the first pass had
        self._answers: list[Tensor] = []  # (B, V) of each pass
        if changes.edits:
            recorder.change, changes.span_of = changes.edit_layer, self.span_of

    def span_of(self, layer: RecordedLayer) -> TextSpan:
        """Positions in the text of a layer's queries and keys in the current pass."""
        _, _, q_len, k_len = layer.shape
        known = self._layers.get(layer.place)
        first = 0 if known is None or known.is_full_pass(layer) else known.n_queries
        prompt_length = self._prompt_lengths.setdefault(layer.place, q_len)
        queries = range(first, first + q_len)
        if layer.kind == "cross":
            return TextSpan(queries, range(k_len), prompt_length, k_len)
        dropped = max(0, queries.stop - k_len)
        return TextSpan(queries, range(dropped, dropped + k_len), prompt_length, prompt_length)

    def locate_stream(self, block: str, stream: Tensor) -> tuple[range, int]:
        """Positions in the text that enter a block (B, Q, M), and how many did in the first pass."""
        count = stream.shape[1]
        known = max((layer.n_queries for layer in self._layers.values() if is_within(layer.name, block)), default=0)
        first = 0 if count > known else known  # without a cache all are computed anew
        return range(first, first + count), self._prompt_lengths.setdefault(block, count)

    def end_pass(self, *_: Any) -> None:
        """Join the layers of the pass that has ended, or of the encoder that ran before the first one."""
        for layer in self._recorder.layers:
            known = self._layers.get(layer.place)
            if known is None or known.is_full_pass(layer):
                self._layers[layer.place] = JoinedLayer(layer)
            else:
                known.add(layer)
            if layer.norms is not None:
                self._recorder.earlier_norms[layer.place] = layer.norms
        self._recorder.begin_pass()

    def note_answer(self, _: nn.Module, __: Any, output: Any) -> None:
        """Forward hook: store the last logits of a pass."""
        logits = find_logits(output, "last")
        if logits is not None and logits.dim() == 2:
            self._answers.append(logits.detach())

    def build_trace(self, written: Any, logits: Logits, inputs: dict[str, Any]) -> Trace:
        layers = tuple(joined.join() for joined in self._layers.values())
        if not layers:
            raise Problem("no attention was seen while the model wrote")
        answers = None
        if logits is not None and self._answers:
            answers = self._answers[-1] if logits == "last" else torch.stack(self._answers, 1)
        return Trace(layers, answers, _text_inputs(layers, written, inputs))


@contextmanager
def _record_steps(model: nn.Module, recorder: Recorder, edits: Sequence[Edit]) -> Iterator[_Steps]:
    """Record each pass of the model in this thread as a step, under these edits."""
    steps = _Steps(recorder, EditedPass(model, tuple(edit for edit in edits if not edit.of_stream)))
    streams = edit_streams(model, [edit for edit in edits if edit.of_stream], steps.locate_stream)
    before = model.register_forward_pre_hook(this_thread_only(steps.end_pass))
    with (
        attach_hooks([before, model.register_forward_hook(this_thread_only(steps.note_answer))]),
        streams,
        torch.no_grad(),
    ):
        yield steps


def _text_inputs(layers: tuple[RecordedLayer, ...], written: Any, inputs: dict[str, Any]) -> dict[str, Tensor]:
    """Inputs of the trace: ids of all positions that went through the model, and `sequences`, the whole text."""
    tensors = select_ids_and_masks(inputs)
    sequences = getattr(written, "sequences", written)
    if not isinstance(sequences, Tensor) or sequences.dim() != 2:
        return tensors
    tensors["sequences"] = sequences
    length = next((layer for layer in layers if layer.stack == "decoder" and layer.kind == "self"), layers[-1]).shape[2]
    if sequences.shape[1] < length:
        return tensors  # the model was given vectors, and answers with what came after them
    two = any(layer.kind == "cross" for layer in layers)
    tensors["decoder_input_ids" if two else "input_ids"] = sequences[:, :length]
    mask = tensors.get("attention_mask")
    if not two and mask is not None and mask.dim() == 2 and mask.shape[1] < length:
        tensors["attention_mask"] = nn.functional.pad(mask, (0, length - mask.shape[1]), value=1)
    return tensors


def _bind_arguments(method: Callable[..., Any], args: tuple[Any, ...], inputs: dict[str, Any]) -> dict[str, Any]:
    """All arguments by the method's parameter names; those of **kwargs by their own names."""
    bound = inspect.signature(method).bind_partial(*args, **inputs).arguments
    return {
        name: value
        for arguments in (bound, *bound.values())
        if isinstance(arguments, dict)
        for name, value in arguments.items()
    }


RowsAtKeys = tuple[Tensor, int]  #: (.., queries of one pass, keys), and the place of its first key among all keys


class JoinedLayer:
    """One layer of several consecutive passes over one text, joined.

    It stores only what is new in each pass, so that n passes of one token take n positions.
    """

    def __init__(self, first: RecordedLayer) -> None:
        self._first_layer, self.name = first, first.name
        self._n_keys = 0  # so many keys are known
        self.n_queries = 0  # and so many queries
        self._vectors: dict[str, list[Tensor]] = {name: [] for name in ("q", "k", "v", "norms")}
        self._edits: dict[str, list[Tensor | None]] = {"set_weights": [], "set_output": []}
        self._shapes: list[tuple[int, ...]] = []  # (B, H, Q, K) of each pass
        self._edited_rows: list[int] = []  # query positions that an edit changed
        self._real_masks: list[Tensor | None] = []  # of cross-attention: which queries are no padding
        self._rows: dict[str, list[RowsAtKeys]] = {name: [] for name in ("allowed", "bias", "reported")}
        self.add(first)

    def is_full_pass(self, layer: RecordedLayer) -> bool:
        """Whether the layer comes from a pass without a cache, which computes all positions again."""
        _, _, q_len, k_len = layer.shape
        return layer.kind == "self" and k_len == q_len and (k_len > self._n_keys or q_len > 1)

    def add(self, layer: RecordedLayer) -> None:
        """Append the layer as recorded in the next pass."""
        _, _, q_len, k_len = layer.shape
        known = self._n_keys if layer.kind == "self" else 0  # keys before this pass; those of cross-attention stay
        self._n_keys = known + q_len if layer.kind == "self" else k_len
        keys = min(k_len, self._n_keys)  # a cache of a fixed length has empty places behind
        start = self._n_keys - keys  # a sliding window has dropped keys in front
        for name, tensor in (("allowed", layer.mask), ("bias", layer.bias), ("reported", layer.reported)):
            if tensor is not None:
                four = tensor.reshape(*(1,) * (4 - tensor.dim()), *tensor.shape)
                self._rows[name].append((four.expand(*four.shape[:2], q_len, k_len)[..., :keys], start))
        if layer.reported is None:
            self._add_vectors(layer, slice(known - start, keys))
        self._add_changes(layer, keys)
        self._real_masks.append(layer.queries)
        self.n_queries += q_len
        self._last_layer = layer

    def _add_changes(self, layer: RecordedLayer, keys: int) -> None:
        self._edited_rows += [self.n_queries + row for row in layer.rows or ()]
        self._shapes.append((*layer.shape[:3], keys))
        for name, values in (("set_weights", layer.set_weights), ("set_output", layer.set_output)):
            self._edits[name].append(
                None if values is None else values[..., :keys] if name == "set_weights" else values
            )

    def _add_vectors(self, layer: RecordedLayer, new: slice) -> None:
        q, k, v = layer.qkv
        self._vectors["q"].append(q)
        if layer.kind == "cross" and self._vectors["k"]:
            return
        for name, tensor in (("k", k), ("v", v), ("norms", layer.norms)):
            if tensor is not None:
                self._vectors[name].append(tensor[:, :, new].clone())  # a copy, so that the cache of each pass can go

    def join(self) -> RecordedLayer:
        """Layer with all queries, and all keys that any of them saw."""
        passes = len(self._rows["allowed"])
        if passes == 1:
            return self._last_layer
        if 0 < len(self._rows["bias"]) < passes:
            raise Problem("layer {name} adds to its scores in some steps only", name=self._first_layer.name)
        padding = self._last_layer.padding  # as the last pass knew it; keys that no query saw where that lacks some
        joined: dict[str, Any] = {name: _stack_rows(rows, self._n_keys) for name, rows in self._rows.items() if rows}
        joined["padding"] = None if padding is None or padding.shape[-1] != self._n_keys else padding
        joined["queries"] = self._real_queries()
        if not self._rows["reported"]:
            if len(self._vectors["norms"]) < len(self._vectors["k"]):
                self._vectors["norms"].clear()
            joined |= {name: torch.cat(parts, 2) if parts else None for name, parts in self._vectors.items()}
            self._require_one_text(joined["k"])
        return replace(
            self._first_layer,
            causal=False,
            blocked=None,
            rows=tuple(self._edited_rows) or None,
            **joined,
            **self._joined_edits(),
        )

    def _joined_edits(self) -> dict[str, Any]:
        """Weights and outputs that edits set in all passes, NaN where they set none."""
        changes: dict[str, Any] = {}
        for name, per_pass in self._edits.items():
            known = next((values for values in per_pass if values is not None), None)
            if known is None:
                continue
            shapes = [shape if name == "set_weights" else (*shape[:3], known.shape[-1]) for shape in self._shapes]
            parts = [
                known.new_full(s, torch.nan) if values is None else values
                for s, values in zip(shapes, per_pass, strict=True)
            ]
            starts = [start for _, start in self._rows["allowed"]]
            at_keys = zip(parts, starts, strict=True)
            changes[name] = torch.cat(parts, 2) if name == "set_output" else _stack_rows(list(at_keys), self._n_keys)
        return changes

    def _real_queries(self) -> Tensor | None:
        known = next((real for real in self._real_masks if real is not None), None)
        if known is None:
            return None
        passes = zip(self._real_masks, self._rows["allowed"], strict=True)
        parts = (known.new_ones(len(known), 1, mask.shape[-2]) if real is None else real for real, (mask, _) in passes)
        return torch.cat(list(parts), -1)

    def _require_one_text(self, k: Tensor) -> None:
        """Raise a Problem if passes went back or swapped rows, as in a beam search."""
        _, last, _ = self._last_layer.qkv
        length = min(last.shape[2], k.shape[2])
        if not torch.equal(last[:, :, :length], k[:, :, k.shape[2] - length :]):
            raise Problem(
                "the steps of {name} do not go on from one another, as with a beam search or another model's guesses: "
                "generate with num_beams=1, or capture one pass over what was generated",
                name=self._first_layer.name,
            )


def _stack_rows(blocks: list[RowsAtKeys], total: int) -> Tensor:
    """Stack blocks of rows, each at its keys and 0 or False elsewhere: (B or 1, H or 1, all queries, total)."""
    lead = [max(block.shape[axis] for block, _ in blocks) for axis in (0, 1)]
    stacked = blocks[0][0].new_zeros((*lead, sum(block.shape[2] for block, _ in blocks), total))
    row = 0
    for block, start in blocks:
        stacked[..., row : row + block.shape[2], start : start + block.shape[3]] = block
        row += block.shape[2]
    return stacked
