"""One pass of a model over a sentence: its tokens and recorded attention."""

import contextlib
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate, count
from pathlib import Path
from typing import Any, Literal

import torch
from torch.utils.hooks import RemovableHandle

from attnviz.base.head_record import HeadGrid
from attnviz.base.message import Message, Problem
from attnviz.models.capture import RecordedLayer, Trace, capture
from attnviz.models.capture.forward_pass import attach_hooks, this_thread_only
from attnviz.models.catalogue import LoadedModel, Source, WeightsAre, find
from attnviz.models.file_faults import DAMAGED, FAILED, write_whole
from attnviz.models.loading import EXAMPLES, Example, is_prepared, prepared_example
from attnviz.models.settings import current_settings
from attnviz.models.tokens import Frame, Tokens, encode, encode_target, supported_frames

StackId = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True)
class Request:
    """A model and the text to run it on. Equal requests give the same run."""

    model: str
    text: str
    second: str = ""  #: the other sentence of a pair, or what an encoder-decoder's decoder has written
    frame: Frame = "usual"
    version: str = ""  #: of a model in a folder of one's own: which state of its files
    limit: int = 0  #: tokens of a long text; 0: the app's limit of a sentence


@dataclass(frozen=True, eq=False)
class Stack:
    """The layers of one kind (encoder, decoder or cross), with their query tokens and key tokens."""

    id: StackId
    layers: tuple[RecordedLayer, ...]
    queries: Tokens
    keys: Tokens

    @property
    def same_tokens(self) -> bool:
        """Whether queries and keys are the same tokens: a sentence that looks at itself."""
        return self.queries is self.keys

    @property
    def tokens(self) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """Labels of queries and of keys; None: the queries' own."""
        return self.queries.labels, None if self.same_tokens else self.keys.labels

    @property
    def grid(self) -> HeadGrid:
        """How many heads each layer has."""
        return HeadGrid.of([layer.n_heads for layer in self.layers], [layer.n_kv_heads for layer in self.layers])

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """(layer, head) of each head, layer by layer."""
        return tuple((index, head) for index, layer in enumerate(self.layers) for head in range(layer.n_heads))

    def has(self, layer: int, head: int) -> bool:
        """Whether this stack has this layer and this head in it, both counted from 0."""
        return 0 <= layer < len(self.layers) and 0 <= head < self.layers[layer].n_heads

    def require(self, layer: int, head: int) -> None:
        """Raise a Problem that says which heads there are, unless this stack has this one."""
        if not self.has(layer, head):
            last = len(self.layers) - 1
            raise Problem(
                "There is no head {text}: layers go from 0 to {last}, heads from 0 to {most}",
                text=f"{layer}.{head}",
                last=last,
                most=self.layers[max(0, min(layer, last))].n_heads - 1,
            )


@dataclass(frozen=True, eq=False)
class ModelRun:
    """One pass of one model over one sentence. It holds no model: functions that run it again take one."""

    request: Request
    name: str  #: the model's name as a visitor reads it
    trace: Trace
    source: Tokens
    target: Tokens | None = None  #: what the decoder of an encoder-decoder has written
    origin: Source | None = None  #: where the weights came from; None: the trace was read from the disk
    weights_are: WeightsAre = "trained"  #: of the catalogue's models, whose traces are kept, it is known
    about_weights: tuple[Message, ...] = ()
    rounded_to: int | None = None  #: bits of a number in the file that the weights came from, where that rounded them

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """All stacks, in the order in which the model runs them."""
        return self.stacks_in(self.trace)

    def stacks_in(self, trace: Trace) -> tuple[Stack, ...]:
        """The layers of a pass over the same tokens, grouped into encoder, decoder and cross-attention."""
        source, decoder = self.source, self.target or self.source
        stack_rules: list[tuple[StackId, Callable[[RecordedLayer], bool], Tokens, Tokens]] = [
            ("encoder", lambda la: la.stack == "encoder", source, source),
            ("decoder", lambda la: la.stack == "decoder" and la.kind == "self", decoder, decoder),
            ("cross", lambda la: la.kind == "cross", decoder, source),
        ]
        groups = ((name, tuple(filter(belongs, trace.layers)), q, k) for name, belongs, q, k in stack_rules)
        return tuple(Stack(name, layers, q, k) for name, layers, q, k in groups if layers)

    def stack(self, name: StackId) -> Stack:
        """The stack of that name; LookupError where this model has none."""
        return {stack.id: stack for stack in self.stacks}[name]

    @property
    def notices(self) -> tuple[Message, ...]:
        """Messages for the visitor: changes to the weights, and where the sentence was cut."""
        return self.about_weights + self.source.notices + (self.target.notices if self.target else ())

    @property
    def nbytes(self) -> int:
        """Bytes that this run holds in memory."""
        return self.trace.nbytes

    def inputs_on(self, device: torch.device) -> dict[str, Any]:
        """The arguments of the model's forward pass on `device`, to run it again."""
        return {name: tensor.to(device) for name, tensor in pass_inputs(self.source, self.target).items()}


def run_model(request: Request, loaded: LoadedModel, step: Callable[[float], object] | None = None) -> ModelRun:
    """One pass of the model over the sentence. Raises a Problem for a sentence that the model cannot take.

    `step` is called after each block with the share of the pass that is done; what it raises ends the pass.
    """
    if not request.text.strip():
        raise Problem("The sentence is empty: type at least one word")
    is_pair = loaded.model.config.is_encoder_decoder
    second = request.second or None
    frame = request.frame if request.frame in supported_frames(loaded) else "usual"
    if second is not None and not is_pair and frame in ("start", "chat"):
        frame = "usual"
    source = encode(loaded, request.text, None if is_pair else second, frame, request.limit or None)
    target = encode_target(loaded, request.second) if is_pair else None
    trace = find_reading(asdict(request))
    if trace is None:
        with attach_hooks(() if step is None else _block_hooks(loaded, step)):
            trace = capture(loaded.model, logits=loaded.predicts, **pass_inputs(source, target))
        store_trace(asdict(request), trace)
    return ModelRun(
        request,
        loaded.name,
        trace,
        source,
        target,
        loaded.source,
        loaded.weights_are,
        loaded.notices,
        loaded.entry.bits_from(loaded.source),
    )


def _block_hooks(loaded: LoadedModel, step: Callable[[float], object]) -> Iterator[RemovableHandle]:
    """Hooks that call `step` after each block of the model, in this thread."""
    blocks = [module for name, module in loaded.model.named_modules() if name.rpartition(".")[2].isdigit()]
    done = count(1)
    for block in blocks:
        yield block.register_forward_hook(this_thread_only(lambda *_: step(next(done) / len(blocks))))


def has_stored_run(request: Request) -> bool:
    """Whether `stored_run` will find this run on the disk; loads nothing."""
    return _find_example(request) is not None and is_prepared(find(request.model))


def stored_run(request: Request) -> ModelRun | None:
    """The run of a prepared example, read from the disk; None for any other request. Loads no model."""
    example = _find_example(request)
    prepared = prepared_example(example) if example else None
    if prepared is None:
        return None
    entry = find(request.model)
    name, bits = entry.name_from(prepared.source), entry.bits_from(prepared.source)
    return ModelRun(request, name, prepared.trace, prepared.tokens, rounded_to=bits)


def _find_example(request: Request) -> Example | None:
    """The example with exactly this model and these sentences, if there is one."""
    if request.frame != "usual":
        return None
    key = (request.model, request.text, request.second)
    return next((e for e in EXAMPLES if (e.model, e.text, e.second) == key), None)


def pass_inputs(source: Tokens, target: Tokens | None) -> dict[str, Any]:
    """The arguments of the model's forward pass."""
    return source.inputs | ({} if target is None else {"decoder_input_ids": target.inputs["input_ids"]})


LIMIT = 2 * 10**9  # bytes
SUFFIX = ".reading"
_SUM_BYTES = 4


def find_reading(request: dict[str, Any]) -> Trace | None:
    """The trace that another process wrote for exactly this request, all of its parts; None where there is none."""
    path = _reading_path(request)
    if path is None:
        return None
    try:
        contents = path.read_bytes()
        if contents[:_SUM_BYTES] != _checksum(contents[_SUM_BYTES:]):
            return None
        os.utime(path)  # used now: it goes last
        return Trace.from_bytes(contents[_SUM_BYTES:])
    except DAMAGED:  # there is none, or it cannot be read: the model is run instead
        return None


def store_trace(request: dict[str, Any], trace: Trace) -> None:
    """Write the trace for other processes. A full disk is no reason to fail: it is then not shared."""
    path = _reading_path(request)
    if path is None:
        return
    with contextlib.suppress(*FAILED):
        sent = trace.to_bytes()
        write_whole(path, _checksum(sent) + sent, 0o600)
        _evict_oldest(path.parent)


def _checksum(sent: bytes) -> bytes:
    """CRC-32 that precedes a stored trace, so that a damaged one is not displayed."""
    return zlib.crc32(sent).to_bytes(_SUM_BYTES, "little")


def _reading_path(request: dict[str, Any]) -> Path | None:
    """The trace file of a request, in a folder that only this user can read; None if traces are not shared."""
    folder = current_settings().readings
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            return None  # others could read visitors' sentences there
    except OSError:
        return None
    request_json = json.dumps(request, sort_keys=True)
    return folder / (hashlib.sha256(request_json.encode("utf-8", "surrogatepass")).hexdigest() + SUFFIX)


def _evict_oldest(folder: Path) -> None:
    files = []
    for path in folder.iterdir():  # those of writers that died among them
        with contextlib.suppress(OSError):
            status = path.stat()
            files.append((status.st_mtime, status.st_size, path))
    newest = sorted(files, reverse=True)
    cumulative_sizes = accumulate(size for _time, size, _path in newest)
    for size, (_time, _size, path) in list(zip(cumulative_sizes, newest, strict=True))[1:]:
        if size > LIMIT:
            path.unlink(missing_ok=True)
