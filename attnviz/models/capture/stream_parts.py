"""Take the residual stream apart: what each head and MLP, the token and its position wrote into it, and the biases.

A block is run again on *the parts as the batch*. Every norm keeps the scale that it had in the pass, so a block without
its attention and MLP is an affine map: it passes on what came in, and joins what attention and MLP write. The model's
own code does both, so parallel blocks, post-norms, factors and mixers beside attention need no code here. Its own
attention makes queries and keys of the parts: projections, rotation and norms of queries and keys are the model's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.models.capture.adapter import switch_implementation
from attnviz.models.capture.attention_call import Answer, AttentionCall, answer_call, listen_to_calls
from attnviz.models.capture.forward_pass import (
    attach_hooks,
    block_name,
    disable_compile,
    is_hidden,
    is_within,
    modules_by_name,
    parent_name,
    this_thread_only,
)
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.recorder import Recorder
from attnviz.models.capture.residual import FrozenMap, freeze_norm

BIAS, TOKEN, POSITION, ENCODER = "bias", "token", "position", "encoder "

#: tokens at a time when a block runs on parts
TOKENS = 1 << 14

_MLP = re.compile(r"mlp|ff|feed_?forward|moe|experts|fc\d|dense|output", re.IGNORECASE)
_NO_NORM = (nn.Linear, nn.Dropout, nn.Identity, nn.Embedding)


def map_tensors(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The value with `change` applied to the tensors in it, through tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)(map_tensors(entry, change) for entry in value)
    if type(value) is dict:
        return {name: map_tensors(entry, change) for name, entry in value.items()}
    return value


@dataclass(frozen=True, eq=False)
class BlockCall:
    """Arguments of one call of a block."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @staticmethod
    def of_pass(args: tuple[Any, ...], kwargs: dict[str, Any]) -> BlockCall:
        """The call without its graph, and without its cache, which another run would go on from."""

        def plain(value: Any) -> Any:
            return None if hasattr(value, "get_seq_length") else map_tensors(value, Tensor.detach)

        return BlockCall(tuple(map(plain, args)), {name: plain(value) for name, value in kwargs.items()})

    def hidden(self) -> list[Tensor]:
        """Hidden states among the arguments: the stream first, then what a decoder is given of its encoder."""
        return [value for value in (*self.args, *self.kwargs.values()) if is_hidden(value)]

    def with_hidden(self, *new: Tensor) -> BlockCall:
        """The call with its hidden states replaced in turn, as far as `new` goes."""
        replacements = dict(zip(map(id, self.hidden()), new, strict=False))
        args = tuple(replacements.get(id(value), value) for value in self.args)
        return BlockCall(args, {name: replacements.get(id(value), value) for name, value in self.kwargs.items()})

    def row(self, row: int, rows: int, heads: int) -> BlockCall:
        """The call for one row of the batch of `rows`; an axis may hold the heads of all rows, as Bloom's bias does."""

        def select(tensor: Tensor) -> Tensor:
            size = next((size for size in (1, heads) if rows > 1 < tensor.dim() and len(tensor) == rows * size), None)
            return tensor if size is None else tensor[row * size : (row + 1) * size]

        return BlockCall(map_tensors(self.args, select), map_tensors(self.kwargs, select))

    def repeat_rows(self, rows: int, heads: int) -> BlockCall:
        """The call with all but its first hidden states repeated, for a module that does not broadcast them."""
        stream = self.hidden()[0]

        def repeat(tensor: Tensor) -> Tensor:
            whole = tensor is not stream and (
                len(tensor) == 1 < tensor.dim() or (tensor.dim() == 3 and len(tensor) == heads)
            )
            return tensor.repeat(rows, *(1,) * (tensor.dim() - 1)) if whole else tensor

        return BlockCall(map_tensors(self.args, repeat), map_tensors(self.kwargs, repeat))


@dataclass(frozen=True, eq=False)
class StreamStart:
    """How a stack's stream begins: the norm of the embeddings, if there is one, and what is added to the token's."""

    norm: FrozenMap | None = None
    vectors: Mapping[str, Tensor] = field(default_factory=dict)  #: (B or 1, Q, M), by the names of their tables
    factor: float | None = None  #: of the token's vector; None where the stream begins in another way

    def stream_of(self, model: nn.Module, tokens: Tensor) -> Tensor:
        """The stream's start of token vectors (N, 1, M), with all that is added to them but positions."""
        if self.factor is None:
            raise Problem("the stream of {model} does not begin with the vectors of tokens", model=type(model).__name__)
        added = [to_float32(vectors[:1]) for name, vectors in self.vectors.items() if name != "positions"]
        stream = sum(added, to_float32(tokens) * self.factor).to(tokens.dtype)
        return stream if self.norm is None else modules_by_name(model)[self.norm.name](stream)


@dataclass(frozen=True, eq=False)
class ModelPass:
    """The model of a pass and the calls of its blocks: enough to run any block again."""

    model: nn.Module
    calls: Mapping[str, Sequence[BlockCall]]  #: by the blocks' dotted names
    starts: Mapping[str, StreamStart] = field(default_factory=dict)  #: by the dotted name of a list of blocks
    rerun: Callable[..., Any] | None = None  #: the same pass under edits, as a trace
    listen: Callable[[Any], AbstractContextManager[Any]] = listen_to_calls  #: how a recorder hears of attention
    parts: dict[tuple[str, int], StreamParts] = field(
        default_factory=dict
    )  #: by list of blocks and row, as they are found

    def __reduce__(self) -> tuple[Any, ...]:
        """None in what is pickled or copied: a trace goes to other processes without its model."""
        return type(None), ()

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Let the model's attention be read inside the block, without gradients."""
        switched = switch_implementation(self.model) if self.listen is listen_to_calls else nullcontext()
        with torch.no_grad(), disable_compile(self.model), switched:
            yield

    def stream_parts(self, layers: Sequence[RecordedLayer], blocks: str, row: int) -> StreamParts:
        """Parts of the stream of one list of blocks in a row of the batch; found once."""
        if (blocks, row) not in self.parts:
            self.parts[blocks, row] = StreamParts(self, layers, blocks, row)
        return self.parts[blocks, row]


@dataclass(frozen=True, eq=False)
class Parts:
    """Named parts (T, M) that add up to hidden states. The first is the bias, which every sum has once."""

    names: tuple[str, ...]
    values: tuple[Tensor, ...]

    def stacked(self) -> Tensor:
        return torch.stack(self.values)


@dataclass(frozen=True, eq=False)
class HeadParts:
    """Queries (P, Q, D) and keys (P, K, D) of one head by parts; they add up to those of the pass."""

    names: tuple[str, ...]
    q: Tensor
    k: Tensor


@dataclass(frozen=True, eq=False)
class _Seen:
    """One call of a module inside a block: its hidden states before and after."""

    module: nn.Module
    inputs: tuple[Tensor, ...]
    output: Tensor


class StreamParts:
    """Parts of one row's residual stream at the input of each block of a list."""

    def __init__(self, model_pass: ModelPass, layers: Sequence[RecordedLayer], blocks: str, row: int) -> None:
        self.model, self.row = model_pass.model, row
        self.listen = model_pass.listen
        self.modules, self.listener = modules_by_name(self.model), BlockListener(self.model)
        self.listener.change = self.listener.change_layer
        self.layers = {layer.name: layer for layer in layers}
        names = [name for name in model_pass.calls if parent_name(name) == blocks]
        if not names:
            raise Problem("the blocks of this model do not pass on one residual stream; leave residual out")
        self.blocks = sorted(names, key=lambda name: int(name.rpartition(".")[2]))
        for name in (*self.blocks, *(layer.name for layer in layers)):
            runs = len(model_pass.calls[name]) if name in model_pass.calls else sum(a.name == name for a in layers)
            if runs != 1:
                raise Problem(
                    "{name} ran {count} times in this pass: its parts cannot be told apart", name=name, count=runs
                )
        rows = max(layer.shape[0] for layer in layers)
        self.n_heads = max(layer.n_heads for layer in layers)
        self.calls = {name: model_pass.calls[name][0].row(row, rows, self.n_heads) for name in self.blocks}
        self.repeats_arguments = False  # whether blocks want masks and biases for each row
        self.before = [_initial_parts(self._stream(0), model_pass.starts.get(blocks, StreamStart()), row)]
        self.last_read: tuple[str, int, HeadParts] | None = None
        self.last_run: BlockRun | None = None
        self.end: FrozenMap | None = None  # the last norm of an encoder
        self.passes_on: list[bool] = []  # of each block: whether what came in stays as it is, or a norm changes it
        self.writers: dict[str, tuple[tuple[str, ...], int]] = {}  # modules that write each part, and their block

    def _stream(self, number: int) -> Tensor:
        return self.calls[self.blocks[number]].hidden()[0]

    def block_call(self, layer: RecordedLayer) -> BlockCall:
        return self.calls[self.blocks[self.number_of(layer)]]

    def sender(self, part: str) -> RecordedLayer | None:
        """Layer that a head's part comes from; None for any other part."""
        match = re.fullmatch(r"(cross )?(\d+)\.\d+", part)
        if match is None or part not in self.writers:
            return None
        kind, number = "cross" if match[1] else "self", self.writers[part][1]
        inside = (layer for layer in self.layers.values() if layer.kind == kind and layer.index == int(match[2]))
        return next(layer for layer in inside if is_within(layer.name, self.blocks[number]))

    @contextmanager
    def silence_modules(self, names: Sequence[str]) -> Iterator[None]:
        """Make these modules answer 0 inside the block."""
        with attach_hooks(self.modules[name].register_forward_hook(this_thread_only(_put_zeros)) for name in names):
            yield

    def number_of(self, layer: RecordedLayer) -> int:
        """Number of the block that a layer is in."""
        return self.blocks.index(block_name(layer.name) or layer.name)

    def at_block(self, number: int) -> Parts:
        """Parts of the stream at the input of a block; after the last one for a number as large as their count."""
        while len(self.before) <= number:
            self.before.append(self._pass_on(len(self.before) - 1))
        return self.before[number]

    def block_run(self, number: int) -> BlockRun:
        """A block run once more; the last one is kept."""
        if self.last_run is None or self.last_run.name != self.blocks[number]:
            self.last_run = BlockRun(self, self.blocks[number])
        return self.last_run

    def at_end(self, given: Tensor) -> Parts:
        """Parts of what a decoder is given of this stack: after its last block, and its last norm if it has one."""
        parts, run = self.at_block(len(self.blocks)), self.block_run(len(self.blocks) - 1)
        self.end = self._last_norm(run.output, given)
        if self.end is None:
            return parts
        held = [apply_frozen(self.end, value[None], bias=n == 0)[0] for n, value in enumerate(parts.values)]
        return Parts(parts.names, tuple(held))

    def _last_norm(self, end: Tensor, given: Tensor) -> FrozenMap | None:
        if is_near(end, given, given):
            return None
        tower = self.modules[parent_name(parent_name(self.blocks[0]))]
        for name, module in tower.named_children():
            if not isinstance(module, _NO_NORM) and not any(True for _ in module.children()):
                norm = freeze_norm(name, module, end, given)
                if norm is not None:
                    return norm
        raise Problem("what stands between {name} and the decoder is no norm", name=self.blocks[-1])

    def _pass_on(self, number: int) -> Parts:
        """Parts after a block: what it passes on of those before, and what its heads and others write."""
        old, run = self.before[number], self.block_run(number)
        new = run.written_parts()
        stream = to_float32(run.stream)
        rows = torch.cat([stream.new_zeros(1, *stream.shape[1:]), old.values[0][None], stream])
        out = run.join(rows, new)
        nothing, bias = out[0], out[1]
        names = [name for name, _ in new if name != BIAS]
        self.writers |= {name: (tuple(writes), number) for name, writes in new if name != BIAS}
        kept = [(name, row - nothing) for name, row in zip(names, out[3:], strict=True) if bool((row - nothing).any())]
        self.passes_on.append(torch.allclose(out[2] - nothing, stream[0], rtol=1e-4, atol=1e-5))
        before = list(self._pass_through(number, torch.stack(old.values[1:])))
        parts = Parts((*old.names, *(name for name, _ in kept)), (bias, *before, *(value for _, value in kept)))
        if number + 1 < len(self.blocks) and not is_near(self._stream(number + 1), run.output, stream):
            raise Problem("something changes the residual stream after {name}", name=self.blocks[number])
        if not is_near(parts.stacked().sum(0), run.output[0], stream):
            raise Problem(
                "what {name} adds to the residual stream is no sum of parts, even with its norms held",
                name=self.blocks[number],
            )
        return parts

    def _pass_through(self, number: int, rows: Tensor) -> Tensor:
        """Rows (R, T, M) of parts after a block; a norm of the stream itself changes them, as in BERT."""
        if self.passes_on[number]:
            return rows
        out = self.block_run(number).join(torch.cat([torch.zeros_like(rows[:1]), rows]), [])
        return out[1:] - out[0]

    def follow_to_end(self, sender: RecordedLayer, part: str) -> Tensor:
        """The same in what a decoder is given of this stack, (Dv, T, M); after `at_end`."""
        rows, _ = self.follow_head(sender, part, len(self.blocks))
        return rows if self.end is None else apply_frozen(self.end, rows, bias=False)

    def read_encoder_rows(self, layer: RecordedLayer, head: int, rows: Tensor) -> Tensor:
        """Keys of one head of rows of the encoder's stream, less what nothing gives."""
        k = self.block_run(self.number_of(layer)).read_encoder(
            layer, torch.cat([torch.zeros_like(rows[:1]), rows]), head
        )
        return k[1:] - k[0]

    def follow_head(self, sender: RecordedLayer, part: str, to: int) -> tuple[Tensor, list[Written]]:
        """What a unit of each number of a head's output becomes at the input of block `to`, (Dv, T, M).

        Of a head in that block itself: nothing, and what its output projection then writes.
        """
        (module,), number = self.writers[part]
        columns = sender.w_o_by_head[int(part.rpartition(".")[2])].mT  # (Dv, M)
        length = self._stream(0).shape[1]
        units: list[Written] = [(part, {module: column.expand(length, -1)}) for column in columns]
        nothing = torch.zeros_like(to_float32(self._stream(0)))
        if number >= to:
            return nothing[:0], units
        out = self.block_run(number).join(nothing, units)
        rows = out[1:] - out[0]
        for between in range(number + 1, to):
            rows = self._pass_through(between, rows)
        return rows, []

    def read_rows(
        self, layer: RecordedLayer, head: int, rows: Tensor, written: Sequence[Written]
    ) -> tuple[Tensor, Tensor]:
        """Queries and keys of one head of rows of parts, less what nothing gives."""
        nothing = torch.zeros_like(to_float32(self._stream(0)))
        q, k = self.block_run(self.number_of(layer)).read(layer, torch.cat([nothing, nothing, rows]), written, head)
        return q[2:] - q[0], k[2:] - k[0]

    def without(self, layer: RecordedLayer, head: int, part: str, encoder: Parts | None) -> tuple[Tensor, Tensor]:
        """Queries and keys (T, D) of one head if a part were not in the stream it reads, its norms computed again."""
        run, parts = self.block_run(self.number_of(layer)), self.at_block(self.number_of(layer))
        call, stream, hooks = run.call, to_float32(run.stream), list[Any]()
        if encoder is not None and part.startswith(ENCODER):
            given = call.hidden()[1]
            gone = encoder.values[encoder.names.index(part.removeprefix(ENCODER))]
            call = call.with_hidden(run.stream, (to_float32(given) - gone).to(given.dtype))
        elif part in parts.names:
            call = call.with_hidden((stream - parts.values[parts.names.index(part)]).to(run.stream.dtype))
        else:  # of a head before it in its own block
            writes = {n: value for name, entry in run.written_parts() if name == part for n, value in entry.items()}
            hooks = [run.put_without(name, value) for name, value in writes.items()]
        q, k = run.read_qk(layer, call, iter(hooks), head)
        return q[0], k[0]

    def read_head(self, layer: RecordedLayer, head: int, encoder: Parts | None = None) -> HeadParts:
        """Queries and keys of one head, taken apart; the last head read is kept.

        `encoder` are parts of what a cross-attention layer reads its keys from.
        """
        if self.last_read is not None and self.last_read[:2] == (layer.name, head):
            return self.last_read[2]
        number = self.number_of(layer)
        run, parts = self.block_run(number), self.at_block(number)
        written = [entry for entry in run.written_parts() if not any(is_within(layer.name, cut) for cut in entry[1])]
        rows = torch.cat([torch.zeros_like(parts.values[0])[None], parts.stacked()])
        q, k = (_differences(vectors) for vectors in run.read(layer, rows, written, head))
        self.writers |= {name: (tuple(writes), number) for name, writes in written if name != BIAS}
        names = (*parts.names, *(name for name, _ in written if name != BIAS))
        if encoder is not None:
            rows = torch.cat([torch.zeros_like(encoder.values[0])[None], encoder.stacked()])
            k = _differences(run.read_encoder(layer, rows, head))
            names = (*names, *(ENCODER + name for name in encoder.names[1:]))
            q, k = (
                torch.cat([q, q.new_zeros(len(k) - 1, *q.shape[1:])]),
                torch.cat([k[:1], k.new_zeros(len(q) - 1, *k.shape[1:]), k[1:]]),
            )
        some = (q != 0).flatten(1).any(1) | (k != 0).flatten(1).any(1)
        some[0] = True  # what stands after the layer in its block has no share in it
        found = HeadParts(
            tuple(name for name, there in zip(names, some.tolist(), strict=True) if there), q[some], k[some]
        )
        recorded_q, recorded_k, _ = layer.qkv
        kv_head = head * layer.n_kv_heads // layer.n_heads
        for ours, theirs in ((found.q, recorded_q[:, head]), (found.k, recorded_k[:, kv_head])):
            whole = to_float32(theirs[self.row if len(theirs) > 1 else 0])
            if not is_near(ours.sum(0), whole, theirs):
                raise Problem(
                    "what {name} makes of the residual stream is no linear map, even with its norms held",
                    name=layer.name,
                )
        self.last_read = (layer.name, head, found)
        return found


def _differences(vectors: Tensor) -> Tensor:
    """Vectors of the bias, then of each part less what nothing gives; rows are nothing, the bias and the parts."""
    return torch.cat([vectors[1:2], vectors[2:] - vectors[0]])


def _initial_parts(stream: Tensor, start: StreamStart, row: int) -> Parts:
    """Bias, token, position and other embeddings at the start of a stream (1, T, M)."""
    whole = to_float32(stream[0])
    norm = None if start.norm is None else _norm_of_row(start.norm, row)
    bias = torch.zeros_like(whole) if norm is None or norm.bias is None else norm.bias.expand_as(whole)
    others = {}
    for name, vectors in start.vectors.items():
        vector = to_float32(vectors[row if len(vectors) > 1 else 0])
        others[POSITION if name == "positions" else name.rpartition(".")[2]] = (
            vector if norm is None else apply_frozen(norm, vector[None], bias=False)[0]
        )
    token = whole - bias - sum(others.values(), torch.zeros_like(whole))
    return Parts((BIAS, TOKEN, *others), (bias, token, *others.values()))


def _norm_of_row(norm: FrozenMap, row: int) -> FrozenMap:
    assert norm.scale is not None
    return replace(norm, scale=norm.scale[row : row + 1] if len(norm.scale) > 1 else norm.scale)


def apply_frozen(norm: FrozenMap, x: Tensor, bias: bool = True) -> Tensor:
    """A norm at the scale of the pass, on rows of hidden states (R, Q, ..., M)."""
    assert norm.scale is not None
    assert norm.gain is not None
    if norm.centres:
        x = x - x.mean(-1, keepdim=True)
    x = x * norm.scale[..., None] * norm.gain
    return x + norm.bias if bias and norm.bias is not None else x


def is_near(actual: Tensor, expected: Tensor, stream: Tensor) -> bool:
    """Whether two tensors differ by no more than the rounding of long sums with `stream`."""
    allowed = 1e-4 if stream.dtype in (torch.float32, torch.float64) else 3e-2
    if actual.shape != expected.shape:
        return False
    largest = to_float32(stream).abs().max() + to_float32(expected).abs().max()
    return bool((to_float32(actual) - to_float32(expected)).abs().max() <= allowed * (1e-6 + largest))


class StopRun(Exception):
    """Ends a block's run: the wanted attention call has been recorded."""


class BlockListener(Recorder):
    """Answers the attention calls of a block's run: as recorded in the pass, or up to the call of `target`.

    A call of the interface is answered by `answer`, one of torch's own function by `change`.
    """

    recorded: Mapping[str, Tensor] = {}  #: head outputs (1, Q, H, Dv) by the layers' names
    target: str | None = None

    def answer(self, module: nn.Module, call: AttentionCall, kwargs: dict[str, Any]) -> Answer:
        name = self.name_of(module)
        if name == self.target:
            self.layers.append(self.describe(module, call))
            raise StopRun
        if name in self.recorded:
            return self.recorded[name].to(call.q.dtype).contiguous(), None
        return answer_call(module, call, kwargs)

    def change_layer(self, layer: RecordedLayer) -> RecordedLayer | None:
        if layer.name == self.target:
            self.layers.append(layer)
            raise StopRun
        handed_on = self.recorded.get(layer.name)
        return None if handed_on is None else replace(layer, handed_on=handed_on.transpose(1, 2))


Result = TypeVar("Result")
Written = tuple[str, Mapping[str, Tensor]]  #: a part's name, and what it writes as the output (T, W) of a module


class BlockRun:
    """A block of the pass run again for one row: its real hidden states first, then any parts."""

    def __init__(self, parts: StreamParts, name: str) -> None:
        self.parts, self.name, self.call = parts, name, parts.calls[name]
        self.stream = self.call.hidden()[0]
        self.inside = [n for n in parts.modules if n.startswith(f"{name}.")]
        self.attention = [layer for n, layer in parts.layers.items() if n == name or n.startswith(f"{name}.")]
        self.seen: dict[str, list[_Seen]] = {}
        row = slice(parts.row, parts.row + 1)
        self.heads = {layer.name: require_exact(layer).head_outputs()[row] for layer in self.attention}
        hooks = (
            parts.modules[n].register_forward_hook(this_thread_only(partial(self._note, n)), with_kwargs=True)
            for n in self.inside
        )
        self.output = self._run(self.call, hooks, {n: z.transpose(1, 2) for n, z in self.heads.items()})
        self.cuts = list(self._find_cuts(name))
        self._norms: dict[str, list[FrozenMap | None]] = {}

    def _note(self, name: str, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        inputs = tuple(t for t in (*args, *kwargs.values()) if isinstance(t, Tensor) and t.is_floating_point())
        if inputs and isinstance(_first(output), Tensor):
            self.seen.setdefault(name, []).append(_Seen(module, inputs, _first(output).clone()))

    def _run(
        self,
        call: BlockCall,
        hooks: Iterator[Any],
        recorded: Mapping[str, Tensor] | None = None,
        target: str | None = None,
    ) -> Tensor:
        """Hidden states after the block, float32; those of a run that stops at `target` are empty. Inside `ready`."""
        listener = self.parts.listener
        listener.begin_pass()
        listener.recorded, listener.target = recorded or {}, target
        output: Any = self.stream[:0]
        with self.parts.listen(listener), attach_hooks(hooks), suppress(StopRun):
            try:
                output = self.parts.modules[self.name](*call.args, **call.kwargs)
            except (RuntimeError, ValueError, IndexError) as error:  # of its own code: Zamba's reads the embeddings too
                raise Problem(
                    "{name} cannot be run on parts of the stream alone: it reads more than that", name=self.name
                ) from error
        return to_float32(_first(output))

    def _find_cuts(self, name: str) -> Iterator[str]:
        """Modules whose outputs are no linear maps of the stream, the outermost: attention, MLPs, mixers."""
        for child in (n for n in self.inside if parent_name(n) == name):
            module, seen = self.parts.modules[child], self.seen.get(child, [])
            if not any(p.dim() > 1 for p in module.parameters()):
                continue
            if len(seen) == 1 and not self._has_skip(child, seen[0]):
                yield child
            else:
                yield from self._find_cuts(child)

    def _has_skip(self, name: str, seen: _Seen) -> bool:
        """Whether a module adds what it was given to what one of its modules answers."""
        inner = [s for n, calls in self.seen.items() if n.startswith(f"{name}.") for s in calls]
        for hidden in (t for t in seen.inputs if t.shape == self.stream.shape):
            sums = [seen.output, *(t for s in inner for t in s.inputs)]
            for total in (t - hidden for t in sums if t.shape == hidden.shape and t is not hidden):
                if bool(total.any()) and any(is_near(s.output, total, hidden) for s in inner):
                    return True
        return False

    def _frozen_norm(self, name: str) -> list[FrozenMap | None]:
        """Norm of each call of a module, held at its scale; None for a call of another kind of module."""
        if name not in self._norms:
            module, calls = self.parts.modules[name], self.seen.get(name, [])
            leaf = not isinstance(module, _NO_NORM) and not any(True for _ in module.children())
            self._norms[name] = [
                freeze_norm(name, module, self._by_position(s.inputs[0]), self._by_position(s.output))
                if leaf and len(s.inputs) == 1 and s.inputs[0].shape == s.output.shape and s.inputs[0].dim() > 1
                else None
                for s in calls
            ]
        return self._norms[name]

    def _by_position(self, tensor: Tensor) -> Tensor:
        """Hidden states with an axis of rows before that of positions, where a block has joined both."""
        return tensor.unflatten(0, (-1, self.stream.shape[1])) if tensor.dim() == 2 else tensor

    def written_parts(self) -> list[Written]:
        """What each head and each other module writes, by the outputs of modules that the block then joins."""
        written: list[Written] = []
        number, outputs = (
            self.name.rpartition(".")[2],
            {n: self._by_position(self.seen[n][0].output) for n in self.cuts},
        )
        for layer in self.attention:
            if layer.w_o is None:
                continue
            heads = self.heads[layer.name][0] @ layer.w_o_by_head.mT  # (H, T, M)
            bias = heads.new_zeros(heads.shape[-1]) if layer.b_o is None else to_float32(layer.b_o)
            total = heads.sum(0) + bias
            name = next((n for n, output in outputs.items() if is_near(output[0], total, output)), None)
            if name is not None:  # else what the heads hand on is changed on its way: attention is one part
                prefix = "cross " if layer.kind == "cross" else ""
                written += [(f"{prefix}{layer.index}.{head}", {name: value}) for head, value in enumerate(heads)]
                written.append((BIAS, {name: bias}))
                outputs.pop(name)
        others: dict[str, dict[str, Tensor]] = {}
        for name, output in outputs.items():
            last = name.rpartition(".")[2]
            inside = any(is_within(layer.name, name) for layer in self.attention)
            kind = "attention" if inside else "mlp" if _MLP.search(name.removeprefix(self.name)) else last
            others.setdefault(f"{kind} {number}", {})[name] = output[0]
        return [*written, *others.items()]

    def join(self, rows: Tensor, written: Sequence[Written]) -> Tensor:
        """Hidden states after the block for rows (R, T, M) of parts before it, then for each part written in it.

        What `written` has as bias is added to row 1; the other parts written have no input.
        """
        return self._run_rows(
            lambda: torch.cat([self._run(call, hooks) for call, hooks in self._chunks(rows, written, self.cuts)])
        )

    def _run_rows(self, run: Callable[[], Result]) -> Result:
        """What `run` makes of rows; once more with masks and biases for each row where that is refused."""
        try:
            return run()
        except Problem:
            if self.parts.repeats_arguments:
                raise
            self.parts.repeats_arguments = True
            return run()

    def read(self, layer: RecordedLayer, rows: Tensor, written: Sequence[Written], head: int) -> tuple[Tensor, Tensor]:
        """Queries and keys (R, T, D) of one head that a layer of the block makes of each row, as in `join`."""
        cuts = [cut for cut in self.cuts if not is_within(layer.name, cut) and not is_within(cut, layer.name)]
        read = self._run_rows(
            lambda: [self.read_qk(layer, call, hooks, head) for call, hooks in self._chunks(rows, written, cuts)]
        )
        return torch.cat([q for q, _ in read]), torch.cat([k for _, k in read])

    def read_encoder(self, layer: RecordedLayer, rows: Tensor, head: int) -> Tensor:
        """Keys (R, K, D) of one head that a cross-attention layer makes of rows of the encoder's stream."""
        chunks = (  # UMT5 counts its rows in the decoder's stream
            (self.call.with_hidden(self.stream.expand(len(chunk), -1, -1), chunk.to(self.stream.dtype)), len(chunk))
            for chunk in self._split(rows)
        )
        return torch.cat([self.read_qk(layer, call, self._hooks(count, {}), head)[1] for call, count in chunks])

    def read_qk(self, layer: RecordedLayer, call: BlockCall, hooks: Iterator[Any], head: int) -> tuple[Tensor, Tensor]:
        self._run(call, hooks, target=layer.name)
        if not self.parts.listener.layers:
            raise Problem("{name} calls no attention that can be read", name=layer.name)
        q, k, _ = self.parts.listener.layers[-1].qkv
        return to_float32(q[:, head]), to_float32(k[:, head * k.shape[1] // q.shape[1]])

    def put_without(self, name: str, value: Tensor) -> Any:
        """Hook that takes `value` (T, W) away from a module's output."""
        output = self._by_position(to_float32(self.seen[name][0].output)) - value
        return self.parts.modules[name].register_forward_hook(this_thread_only(partial(_put_output, output)))

    def _split(self, rows: Tensor) -> tuple[Tensor, ...]:
        return rows.split(max(1, TOKENS // rows.shape[1]))

    def _chunks(
        self, rows: Tensor, written: Sequence[Written], cuts: Sequence[str]
    ) -> Iterator[tuple[BlockCall, Iterator[Any]]]:
        """Calls of the block for a few rows each, with the hooks that put in what modules write and hold its norms."""
        hidden, outputs = self._rows(rows, written, cuts)
        start = 0
        for chunk in self._split(hidden):
            writes = {name: values[start : start + len(chunk)] for name, values in outputs.items()}
            call = self.call.with_hidden(chunk.to(self.stream.dtype))
            if self.parts.repeats_arguments:
                call = call.repeat_rows(len(chunk), self.parts.n_heads)
            yield call, self._hooks(len(chunk), writes)
            start += len(chunk)

    def _rows(self, rows: Tensor, written: Sequence[Written], cuts: Sequence[str]) -> tuple[Tensor, dict[str, Tensor]]:
        """Rows of hidden states with one more for each part written, and the outputs (R, T, W) of modules in each."""
        named = [entry for entry in written if entry[0] != BIAS]
        hidden = torch.cat([rows, rows.new_zeros(len(named), *rows.shape[1:])])
        outputs = {
            name: hidden.new_zeros(len(hidden), *self._by_position(self.seen[name][0].output).shape[1:])
            for name in cuts
        }
        row_of = {id(entry): len(rows) + index for index, entry in enumerate(named)}
        for entry in written:
            for name, value in entry[1].items():
                if name in outputs:
                    outputs[name][row_of.get(id(entry), 1)] += value
        return hidden, outputs

    def _hooks(self, rows: int, writes: Mapping[str, Tensor]) -> Iterator[Any]:
        """Hooks that put `writes` in place of modules' outputs and hold the norms outside those modules."""
        for name, values in writes.items():
            module = self.parts.modules[name]
            if not self.parts.repeats_arguments:
                yield module.register_forward_pre_hook(this_thread_only(partial(_cut_rows, rows)), with_kwargs=True)
            yield module.register_forward_hook(this_thread_only(partial(_put_output, values)))
        for name in self.inside:
            if not any(is_within(name, cut) for cut in writes) and any(self._frozen_norm(name)):
                hook = partial(self._hold_norm, iter(self._norms[name]))
                yield self.parts.modules[name].register_forward_hook(this_thread_only(hook))

    def _hold_norm(self, maps: Iterator[FrozenMap | None], _: nn.Module, args: tuple[Any, ...], output: Tensor) -> Any:
        frozen = next(maps, None)
        if frozen is None:
            return None
        rows = self._by_position(to_float32(args[0]))
        return apply_frozen(frozen, rows).reshape(output.shape).to(output.dtype)


def require_exact(layer: RecordedLayer) -> RecordedLayer:
    if not layer.exact:
        raise Problem("layer {index} gives its weights only; its scores cannot be taken apart", index=layer.index)
    return layer


def _cut_rows(rows: int, _: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Forward pre-hook: a module whose output is replaced need not run on all rows."""

    def cut(value: Any) -> Any:
        return value[:1] if is_hidden(value) and len(value) == rows else value

    return tuple(map(cut, args)), {name: cut(value) for name, value in kwargs.items()}


def _put_output(values: Tensor, _: nn.Module, _args: Any, output: Any) -> Any:
    """Forward hook: put `values` (R, T, W) in place of a module's output."""
    first = _first(output)
    new = values.to(first.dtype) if first.dim() > 2 else values.to(first.dtype).flatten(0, 1)
    return new if output is first else type(output)((new, *output[1:]))


def _put_zeros(_module: nn.Module, _args: Any, output: Any) -> Any:
    """Forward hook: put zeros in place of a module's output."""
    zeros = torch.zeros_like(_first(output))
    return zeros if isinstance(output, Tensor) else type(output)((zeros, *output[1:]))


def _first(output: Any) -> Any:
    """The hidden states among what a module answers."""
    return output[0] if isinstance(output, tuple | list) and output else output
