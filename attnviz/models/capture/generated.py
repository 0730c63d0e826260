"""All the passes of a model's own `generate`, joined: one trace of the text that was written."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture.adapter import is_transformers, switched, takes_interface
from attnviz.models.capture.attention_call import listening
from attnviz.models.capture.edit import Edit, changing_streams, within
from attnviz.models.capture.edit_in_steps import TextPart
from attnviz.models.capture.edited_layer import EditedPass
from attnviz.models.capture.forward_pass import Logits, hooked, ids_and_masks, in_this_thread, uncompiled, unwrapped
from attnviz.models.capture.joined_layer import JoinedLayer
from attnviz.models.capture.plain_torch import logits_in, recording_plain
from attnviz.models.capture.recorded_layer import LayerPlace, RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.trace import Trace


def record_generation(
    method: Callable[..., Any],
    args: tuple[Any, ...],
    logits: Logits,
    inputs: dict[str, Any],
    edits: Sequence[Edit] = (),
) -> Trace:
    """Every pass that `method` of a model makes, joined into one trace, each under the same edits.

    Its queries are all positions that went through the model. `logits` "last" are those of the last pass, "all"
    those of every pass at its last position, (B, passes, V).
    """
    model = getattr(method, "__self__", None)
    if not isinstance(model, nn.Module):
        model = unwrapped(method)
    if takes_interface(model):
        recorder = Recorder(model)
        with uncompiled(model), switched(model), listening(recorder), _steps(model, recorder, edits) as steps:
            written = method(*args, **inputs)
    elif is_transformers(model):
        raise Problem(
            "{model} computes attention in its own way; its steps cannot be joined. Capture one pass over its text",
            model=type(model).__name__,
        )
    else:
        with recording_plain(model) as recorder, _steps(model, recorder, edits) as steps:
            written = method(*args, **inputs)
    steps.end()
    steps.changes.must_have_met_all()
    return steps.trace(written, logits, _by_name(method, args, inputs))


class _Steps:
    """The layers of all passes so far, and what each pass answered."""

    def __init__(self, recorder: Recorder, changes: EditedPass) -> None:
        self._recorder, self.changes = recorder, changes
        self._layers: dict[LayerPlace, JoinedLayer] = {}
        self._given: dict[LayerPlace | str, int] = {}  # how many positions the first pass had
        self._answers: list[Tensor] = []  # (B, V) of each pass
        if changes.edits:
            recorder.change, changes.part_of = changes.changed, self.part_of

    def part_of(self, layer: RecordedLayer) -> TextPart:
        """Which positions of the text a layer of the pass that runs now computes."""
        _, _, q_len, k_len = layer.shape
        known = self._layers.get(layer.place)
        first = 0 if known is None or known.begins_anew(layer) else known.queries
        given = self._given.setdefault(layer.place, q_len)
        queries = range(first, first + q_len)
        if layer.kind == "cross":
            return TextPart(queries, range(k_len), given, k_len)
        dropped = max(0, queries.stop - k_len)
        return TextPart(queries, range(dropped, dropped + k_len), given, given)

    def place_of(self, block: str, stream: Tensor) -> tuple[range, int]:
        """Which positions of the text enter a block (B, Q, M), and how many did in the first pass."""
        count = stream.shape[1]
        known = max((each.queries for each in self._layers.values() if within(each.name, block)), default=0)
        first = 0 if count > known else known  # without a cache all are computed anew
        return range(first, first + count), self._given.setdefault(block, count)

    def end(self, *_: Any) -> None:
        """Take up the layers of the pass that has ended, or of the encoder that ran before the first one."""
        for layer in self._recorder.layers:
            known = self._layers.get(layer.place)
            if known is None or known.begins_anew(layer):
                self._layers[layer.place] = JoinedLayer(layer)
            else:
                known.add(layer)
            if layer.norms is not None:
                self._recorder.earlier_norms[layer.place] = layer.norms
        self._recorder.begin()

    def note(self, _: nn.Module, __: Any, output: Any) -> None:
        """A hook that keeps what a pass answered."""
        logits = logits_in(output, "last")
        if logits is not None and logits.dim() == 2:
            self._answers.append(logits.detach())

    def trace(self, written: Any, logits: Logits, inputs: dict[str, Any]) -> Trace:
        layers = tuple(joined.layer() for joined in self._layers.values())
        if not layers:
            raise Problem("no attention was seen while the model wrote")
        answers = None
        if logits is not None and self._answers:
            answers = self._answers[-1] if logits == "last" else torch.stack(self._answers, 1)
        return Trace(layers, answers, _texts(layers, written, inputs))


@contextmanager
def _steps(model: nn.Module, recorder: Recorder, edits: Sequence[Edit]) -> Iterator[_Steps]:
    """Inside the block, each pass of the model in this thread is a step, under these edits."""
    steps = _Steps(recorder, EditedPass(model, tuple(edit for edit in edits if not edit.of_stream)))
    streams = changing_streams(model, [edit for edit in edits if edit.of_stream], steps.place_of)
    before = model.register_forward_pre_hook(in_this_thread(steps.end))
    with hooked([before, model.register_forward_hook(in_this_thread(steps.note))]), streams, torch.no_grad():
        yield steps


def _texts(layers: tuple[RecordedLayer, ...], written: Any, inputs: dict[str, Any]) -> dict[str, Tensor]:
    """What was given, with all ids that went through the model in place of the first ones; `sequences` are all."""
    kept = ids_and_masks(inputs)
    sequences = getattr(written, "sequences", written)
    if not isinstance(sequences, Tensor) or sequences.dim() != 2:
        return kept
    kept["sequences"] = sequences
    length = next((layer for layer in layers if layer.stack == "decoder" and layer.kind == "self"), layers[-1]).shape[2]
    if sequences.shape[1] < length:
        return kept  # the model was given vectors, and answers with what came after them
    two = any(layer.kind == "cross" for layer in layers)
    kept["decoder_input_ids" if two else "input_ids"] = sequences[:, :length]
    mask = kept.get("attention_mask")
    if not two and mask is not None and mask.dim() == 2 and mask.shape[1] < length:
        kept["attention_mask"] = nn.functional.pad(mask, (0, length - mask.shape[1]), value=1)
    return kept


def _by_name(method: Callable[..., Any], args: tuple[Any, ...], inputs: dict[str, Any]) -> dict[str, Any]:
    """All arguments by the names that the method gives them, those that it takes in bulk by their own."""
    bound = inspect.signature(method).bind_partial(*args, **inputs).arguments
    return {name: each for held in (bound, *bound.values()) if isinstance(held, dict) for name, each in held.items()}
