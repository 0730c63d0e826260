"""Record the residual stream while a model runs, and find the norms and factors on the way to a logit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, partial
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.base.message import MessageList, Problem
from attnviz.models.capture.forward_pass import (
    attach_hooks,
    block_name,
    is_hidden,
    logits_at,
    modules_by_name,
    parent_name,
    this_thread_only,
)
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.capture.output_projection import find_output_layer, layer_bias, projection_weight
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.residual import ACTIVATIONS, FrozenMap, LogitPath, Residual, freeze_norm, vectors_at
from attnviz.models.capture.stream_parts import BlockCall, StreamStart
from attnviz.models.capture.trace import Trace


# How a block adds attention and MLP to the residual stream is found from the numbers, not from the family's name.
#
# Tried in turn: both are added as they are, in sequence or in parallel (Llama, GPT-2, GPT-NeoX); a norm comes before
# the sum (Gemma 2, OLMo 2); a factor does (Granite); norms are on the stream itself (BERT, BART).
@dataclass(frozen=True)
class Passage:
    """Hidden states before and after one call of a module, (B, Q, M) or (B*Q, M)."""

    name: str
    module: nn.Module
    hidden_in: Tensor
    hidden_out: Tensor
    version: int | None = None  #: of the output when it was answered; None: it cannot change

    @property
    def is_intact(self) -> bool:
        """Whether the output is still what the module answered: Falcon adds attention to its MLP's in place."""
        return self.version in (None, self.hidden_out._version)  # noqa: SLF001

    def as_norm(self) -> FrozenMap | None:
        """The module as a frozen norm; None if it is no norm."""
        larger = any(True for _ in self.module.children()) or any(p.dim() > 1 for p in self.module.parameters())
        if larger or not self.takes_one_input or self.hidden_in.shape != self.hidden_out.shape:
            return None
        return freeze_norm(self.name, self.module, self.hidden_in, self.hidden_out)

    @property
    def takes_one_input(self) -> bool:
        """Whether the module can be run on hidden states alone; Zaya's scaling takes two."""
        parameters = signature(self.module.forward).parameters.values()
        return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) == 1

    def run_on(self, hidden: Tensor) -> "Passage":
        """The passage of other hidden states through the same module."""
        with torch.no_grad():  # not called as a module, so that forward hooks do not run
            return replace(self, hidden_in=hidden, hidden_out=self.module.forward(hidden))

    def of_width(self, width: int) -> "Passage":
        """The passage without the hidden states before it, if they have another width: nobody reads those."""
        return self if self.hidden_in.shape[-1] == width else replace(self, hidden_in=self.hidden_in.new_empty(0))

    def lift(self, rows: int) -> "Passage":
        """The passage with an axis of one position, where its hidden states are one vector for each row."""
        flat = self.hidden_in.dim() == 2 and len(self.hidden_in) == rows == len(self.hidden_out)
        return replace(self, hidden_in=self.hidden_in[:, None], hidden_out=self.hidden_out[:, None]) if flat else self

    def reshape_like(self, stream: Tensor) -> "Passage":
        """The passage with hidden states in the shape of the stream, where they are its rows in one axis."""
        rows = stream.shape[:-1].numel(), stream.shape[-1]
        hidden_in, hidden_out = (
            t.reshape(stream.shape) if t.shape == rows else t for t in (self.hidden_in, self.hidden_out)
        )
        return replace(self, hidden_in=hidden_in, hidden_out=hidden_out)


@dataclass(frozen=True)
class Joint:
    """Maps between a block's attention and MLP and the stream, and the MLP; None where the block has none."""

    maps: dict[str, FrozenMap]
    mlp: Passage | None = None


def find_joint(block: Passage, outputs: Sequence[Tensor], parts: list[Passage]) -> Joint | None:
    """Find how a block adds the outputs of its attention and its MLP to the stream; None if it is not known."""
    attention = sum(outputs[1:], outputs[0])
    change = to_float32(block.hidden_out) - to_float32(block.hidden_in)
    for norm, added in ((None, attention), *_find_norms(attention, parts)):
        rest = change - to_float32(added)
        for passage, answer in ((None, torch.zeros_like(rest)), *((part, part.hidden_out) for part in parts)):
            if _equal_up_to_rounding(answer, rest, block.hidden_out):
                return Joint({} if norm is None else {"attention": norm}, passage)
    return _joint_by_factors(change, attention, parts, block) or _joint_by_stream_norms(block, outputs, parts)


def _find_norms(hidden: Tensor, parts: list[Passage]) -> Iterator[tuple[FrozenMap, Tensor]]:
    """Yield each norm that was given these hidden states, with its own output."""
    for passage in parts:
        if _equal_up_to_rounding(passage.hidden_in, hidden, passage.hidden_in):
            norm = passage.as_norm()
            if norm is not None:
                yield norm, to_float32(passage.hidden_out)


def _joint_by_factors(change: Tensor, attention: Tensor, parts: list[Passage], block: Passage) -> Joint | None:
    """Joint of a block that multiplies both outputs by a number: least squares in two unknowns."""
    attention_term = to_float32(attention)
    for passage in parts:
        both = torch.stack([attention_term.flatten(), to_float32(passage.hidden_out).flatten()])  # (2, N)
        gram = both @ both.mT
        if torch.linalg.det(gram) <= 1e-6 * gram[0, 0] * gram[1, 1]:
            continue
        factors = torch.linalg.solve(gram, both @ change.flatten())
        if _equal_up_to_rounding((factors @ both).view_as(change), change, block.hidden_out):
            return Joint({"attention": FrozenMap(passage.name, gain=factors[:1])}, passage)
    return None


def _joint_by_stream_norms(block: Passage, outputs: Sequence[Tensor], parts: list[Passage]) -> Joint | None:
    """Joint of a block with a norm of the stream after each attention, and another at its end."""
    stream, maps = to_float32(block.hidden_in), dict[str, FrozenMap]()
    for place, added in zip(("between", "middle")[-len(outputs) :], outputs, strict=True):
        found = next(_find_norms(stream + to_float32(added), parts), None)
        if found is None:
            return None
        maps[place], stream = found
    for mlp in parts:
        for end, after in _find_norms(stream + to_float32(mlp.hidden_out), parts):
            if _equal_up_to_rounding(after, block.hidden_out, block.hidden_out):
                return Joint({**maps, "end": end}, mlp)
    return None


def _equal_up_to_rounding(actual: Tensor, expected: Tensor, stream: Tensor) -> bool:
    """Whether two tensors (B, Q, M) differ by no more than the rounding of a sum with `stream`."""
    if actual.shape != expected.shape:
        return False
    allowed = rounding_tolerance(stream.dtype) * to_float32(stream).abs().amax(-1)  # (B, Q)
    return bool(((to_float32(actual) - to_float32(expected)).abs().amax(-1) <= allowed).all())


def rounding_tolerance(dtype: torch.dtype) -> float:
    """Relative rounding error allowed in a sum of this dtype."""
    return 1e-5 if dtype in (torch.float32, torch.float64) else 1e-2


def is_close(actual: Tensor, expected: Tensor, times: float = 10.0) -> bool:
    """Whether two tensors differ by no more than rounding."""
    allowed = times * rounding_tolerance(actual.dtype)
    return actual.shape == expected.shape and float(
        (to_float32(actual) - to_float32(expected)).abs().max()
    ) <= allowed * (1e-6 + float(to_float32(expected).abs().max()))


# The passages of a model while it runs, and the path from the stream to a logit.
@dataclass
class ResidualWatch:
    """Hidden states before and after each module of a model, recorded in one pass."""

    model: nn.Module
    passages: dict[str, list[Passage]] = field(default_factory=dict)  # in the order of the modules' first answers
    embedded: dict[str, list[Tensor]] = field(default_factory=dict)  # answers of the tables of vectors, (B or 1, Q, M)
    calls: dict[str, list[BlockCall]] = field(default_factory=dict)  # of the blocks, by name
    _copies: dict[str, Tensor] = field(default_factory=dict)  # outputs inside the running block, by name

    @cached_property
    def _modules(self) -> dict[str, nn.Module]:
        return modules_by_name(self.model)

    @contextmanager
    def watch_pass(self, wanted: bool) -> Iterator[None]:
        """Record the hidden states of all modules inside the block, if `wanted`."""
        handles = (
            module.register_forward_hook(this_thread_only(partial(self._note_passage, name)), with_kwargs=True)
            for name, module in self._modules.items()
            if wanted and module is not self.model and not isinstance(module, nn.ModuleList)
        )
        with attach_hooks(handles):
            yield

    def _note_passage(
        self, name: str, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> None:
        """Forward hook: store a module's hidden states before and after, and a block's arguments."""
        if block_name(name) == name and any(map(is_hidden, (*args, *kwargs.values()))):
            self.calls.setdefault(name, []).append(BlockCall.of_pass(args, kwargs))
        hidden = next((t for t in (*args, *kwargs.values()) if is_hidden(t) or _is_flat(t)), None)
        output = output[0] if isinstance(output, tuple | list) and output else output
        looks_up = isinstance(module, nn.Embedding) or (hidden is None and not any(True for _ in module.children()))
        if looks_up and (is_hidden(output) or _is_flat(output)):  # XGLM makes sines of positions in a module of its own
            vectors = output.detach().clone()  # which CTRL multiplies in place
            self.embedded.setdefault(name, []).append(vectors[None] if vectors.dim() == 2 else vectors)
        elif hidden is not None and (is_hidden(output) or _is_flat(output)):
            if block_name(name) == parent_name(name):  # what a block may add to in place
                self._copies[name] = output.detach().clone()
            passage = Passage(name, module, hidden.detach(), output.detach(), output._version)  # noqa: SLF001
            self.passages.setdefault(name, []).append(passage)
        if block_name(name) == name:
            self._finish_block(name)

    def _finish_block(self, block: str) -> None:
        """Put copies where a block has changed outputs of its modules; drop the other copies, and other widths.

        Only modules that answer in the width of the stream can be the attention, the MLP or a norm of a block.
        """
        for name, copy in self._copies.items():
            passage = self.passages[name][-1]
            if not passage.is_intact:
                self.passages[name][-1] = replace(passage, hidden_out=copy, version=None)
        self._copies.clear()
        if block not in self.passages:
            return
        width = self.passages[block][-1].hidden_out.shape[-1]
        for name, seen in self.passages.items():
            if name.startswith(f"{block}."):
                self.passages[name] = [p.of_width(width) for p in seen if p.hidden_out.shape[-1] == width]

    def add_residual(self, trace: Trace, at: Tensor, output_layer: str | None = None) -> Trace:
        """The trace with the residual stream of this pass; `at` is the last real position of each row, (B,)."""
        *others, blocks = self._block_lists(trace.layers) or [[]]
        try:
            residual = replace(self._stream(blocks), encoder=self._encoder(others))
        except Problem as problem:
            return replace(trace, residual=Residual((), why=problem.message), last=at)
        inside = tuple(f"{parent_name(names[0])}." for names in (*others, blocks))
        outside = [passage for name, seen in self.passages.items() if not name.startswith(inside) for passage in seen]
        try:  # the lens needs the path alone
            path, at = self._find_path(residual[-1], outside, trace.logits, at, output_layer)
            residual = replace(residual, path=path)
            residual = self._follow_through_blocks(residual, trace)
        except Problem as problem:
            residual = replace(residual, why=problem.message)
        return replace(trace, residual=residual, last=at)

    def _find_path(
        self, end: Tensor, outside: list[Passage], logits: Tensor | None, at: Tensor, output_layer: str | None
    ) -> tuple[LogitPath, Tensor]:
        """Path from the end of the stream to the logits, and the positions that they are read at.

        Those are `at`; classes of a text or a picture may be read at the first position, where a class token stands.
        """
        here = logits_at(logits, at)
        try:
            return logit_path(self.model, end, outside, here, at, output_layer), at
        except Problem:
            if logits is None or logits.dim() != 2 or predicts_tokens(self.model):
                raise
        lifted = [passage.lift(len(end)) for passage in outside]
        try:
            return logit_path(self.model, end, lifted, logits, at * 0, output_layer), at * 0
        except Problem as problem:
            raise Problem(
                "its classes are not read from the last token, nor from the first one: {why}", why=problem.message
            ) from problem

    def _stream(self, blocks: list[str]) -> Residual:
        """The stream of one list of blocks; raises a Problem unless it is one."""
        if not blocks or any(len(self.passages[name]) != 1 for name in blocks):
            raise Problem("the residual stream is read in models whose blocks each run once; leave residual out")
        chain = [self.passages[name][0] for name in blocks]
        end = chain[-1].hidden_out
        if any(passage.hidden_in.shape != end.shape for passage in chain):
            raise Problem("the blocks of this model do not pass on one residual stream; leave residual out")
        return Residual((*(passage.hidden_in for passage in chain), end), blocks=tuple(blocks))

    def _encoder(self, lists: list[list[str]]) -> Residual | None:
        """The stream of the list of blocks that runs before the last one; None unless there is one such list."""
        try:
            return self._stream(lists[0]) if len(lists) == 1 else None
        except Problem:
            return None

    def _follow_through_blocks(self, residual: Residual, trace: Trace) -> Residual:
        """The stream with the maps of all its blocks; raises a Problem if they cannot be found."""
        joints = self._find_joints(trace.layers, residual.blocks, residual.encoder)
        maps = {
            f"{n}.{location}": frozen_map
            for n, joint in enumerate(joints)
            for location, frozen_map in joint.maps.items()
        }
        start = self.find_starts()[parent_name(residual.blocks[0])]
        return replace(
            residual,
            maps=maps if start.norm is None else maps | {"start": start.norm},
            embedded=start.vectors,
            mlps=tuple(joint.mlp.name if joint.mlp else "" for joint in joints),
            mlp_writes=tuple(joint.mlp.hidden_out if joint.mlp else torch.zeros_like(residual[0]) for joint in joints),
        )

    def find_starts(self) -> dict[str, StreamStart]:
        """How the stream of each list of blocks begins, by the list's dotted name."""
        lists = {parent_name(name): calls[0].hidden()[0] for name, calls in reversed(self.calls.items())}
        starts = {}
        for name, first in lists.items():
            towers = (f"{parent_name(other)}." for other in lists if other != name)
            others = tuple(tower for tower in towers if not name.startswith(tower))  # Granite SWA lists rotations
            outside = [
                passage
                for module, seen in self.passages.items()
                if not module.startswith((f"{name}.", *others))
                for passage in seen
            ]
            tables = {table: out for table, out in self.embedded.items() if not table.startswith((f"{name}.", *others))}
            starts[name] = StreamStart()
            for call in (0, -1):  # the encoder looks its tokens up before the decoder does
                found = find_start(self.model, first, outside, {table: out[call] for table, out in tables.items()})
                starts[name] = found or starts[name]
        return starts

    def _block_lists(self, layers: tuple[RecordedLayer, ...]) -> list[list[str]]:
        """Names of the blocks in each list, in the order of the pass: numbered modules, some with self-attention."""
        names = (block_name(layer.name) for layer in layers)
        lists = dict.fromkeys(parent_name(name) for name in names if name is not None and name in self.passages)
        blocks = [name for name in self.passages if block_name(name) == name]  # a hybrid's others have no attention
        return [
            sorted(
                (name for name in blocks if parent_name(name) == each), key=lambda name: int(name.rpartition(".")[2])
            )
            for each in lists
        ]

    def _find_joints(
        self, layers: tuple[RecordedLayer, ...], blocks: tuple[str, ...], encoder: Residual | None
    ) -> list[Joint]:
        """Find how each block adds its attention and MLP to the stream."""
        joints = []
        inside: dict[str, list[RecordedLayer]] = {name: [] for name in blocks}
        for layer in layers:
            group = inside.get(block_name(layer.name) or "")
            if group is not None and layer.kind not in [other.kind for other in group]:
                group.append(layer)
            elif encoder is None or group is not None or encoder.stream_at(block_name(layer.name) or "") is None:
                raise Problem("{name} lies outside the blocks of the residual stream", name=layer.name)
        without = [name for name, group in inside.items() if not group]
        if without:
            raise Problem(
                "these blocks have no attention that was recorded: {names}", names=MessageList(sorted(without))
            )
        for number, (name, group) in enumerate(inside.items()):
            passage = self.passages[name][0]
            outputs = [self._projection_output(layer) for layer in group]
            joint = find_joint(passage, outputs, self._block_parts(passage))
            if joint is None:
                raise Problem(
                    "what stands between the attention of {name} and the residual stream is neither a norm nor a "
                    "factor",
                    name=group[0].name,
                )
            if number + 1 < len(blocks) and not is_close(
                self.passages[blocks[number + 1]][0].hidden_in, passage.hidden_out
            ):
                raise Problem("something changes the residual stream after {name}", name=passage.name)
            joints.append(joint)
        return joints

    def _block_parts(self, block: Passage) -> list[Passage]:
        """Passages of a block's modules that ran once and return the shape of the stream."""
        seen = [
            passages
            for name, passages in self.passages.items()
            if name.startswith(f"{block.name}.") and len(passages) == 1 and passages[0].is_intact
        ]
        parts = [passages[0].reshape_like(block.hidden_out) for passages in seen]
        return [passage for passage in parts if passage.hidden_out.shape == block.hidden_out.shape]

    def _projection_output(self, layer: RecordedLayer) -> Tensor:
        """Output of the output projection, (B, Q, M); raises a Problem if it is not that of the heads' outputs."""
        if layer.w_o is not None and layer.exact:
            last = layer.cropped(slice(-1, None), slice(None)).head_outputs()[:, :, 0].flatten(1)  # (B, H*Dv)
            projection = find_output_layer(
                self._modules[layer.name], self._modules.get(parent_name(layer.name)), last.shape[1]
            )
            name = next((name for name, module in self._modules.items() if module is projection), "")
            seen = self.passages.get(name, [])
            expected = last @ to_float32(layer.w_o).mT + (0.0 if layer.b_o is None else to_float32(layer.b_o))
            if len(seen) == 1 and is_close(seen[0].hidden_out[:, -1], expected):
                return seen[0].hidden_out
            raise Problem(
                "the output of the heads of {name} is changed before or in its output projection, perhaps rounded to 8 "
                "bits",
                name=layer.name,
            )
        raise Problem("the output projection of {name} was not found", name=layer.name)


def _is_flat(value: Any) -> bool:
    """Whether `value` may be hidden states of all rows in one axis, (B*Q, M)."""
    return isinstance(value, Tensor) and value.dim() == 2 and value.is_floating_point()


def predicts_tokens(model: nn.Module) -> bool:
    """Whether the model names an output layer over its vocabulary."""
    return _named_output_layer(model) is not None


def _named_output_layer(model: nn.Module) -> Any:
    ask = getattr(model, "get_output_embeddings", None)
    return ask() if callable(ask) else getattr(model, "lm_head", None)


def _find_output_layer(model: nn.Module, outside: list[Passage], logits: Tensor, at: Tensor, name: str | None) -> Any:
    """The layer of that name, or the one that the model names, or else the one that answered the logits (B, V)."""
    modules = modules_by_name(model)
    if name is not None:
        if name not in modules:
            near = get_close_matches(name, modules, 1, 0.0)
            raise Problem(
                "output_layer={name} is no module of this model: did you mean {near}?", name=name, near=near[0]
            )
        return modules[name]
    named = _named_output_layer(model)
    if named is not None:
        return named
    answers = (p for p in reversed(outside) if isinstance(p.module, nn.Linear) and p.hidden_out.dim() == 3)
    for passage in answers:
        if passage.hidden_out.shape[::2] == logits.shape:
            places = at if passage.hidden_out.shape[1] > 1 else at * 0
            if is_close(vectors_at(passage.hidden_out, places[:, None])[:, 0].to(logits.dtype), logits):
                return passage.module
    return None


def logit_path(
    model: nn.Module,
    end: Tensor,
    outside: list[Passage],
    logits: Tensor | None,
    at: Tensor,
    output_layer: str | None = None,
) -> LogitPath:
    """Path from the end of the stream (B, Q, M) to the logits (B, V) at positions (B,).

    Raises a Problem if the path that was found does not give the model's own logits.
    """
    if logits is None and predicts_tokens(model):
        raise Problem('logits must be asked for, as "last" or "all"')
    if logits is None:
        raise Problem("it predicts no tokens: it has no output layer over a vocabulary, or none that is known as such")
    layer = _find_output_layer(model, outside, logits, at, output_layer)
    width = getattr(layer, "in_features", None)
    if not isinstance(layer, nn.Module) or not isinstance(width, int):
        raise Problem("none of its layers is known to make its logits: name one, as output_layer")
    head = [passage for passage in outside if passage.module is not layer]
    steps, last = _find_steps(end, head, at.unique())
    output = next(name for name, module in modules_by_name(model).items() if module is layer)
    weight = projection_weight(layer, width)
    if last.shape[-1] != weight.shape[1]:
        raise Problem("the output of its last block is not as wide as the input of its output layer")
    path = LogitPath(steps, weight, layer_bias(layer), output=output)
    products = vectors_at(last, at[:, None])[:, 0] @ to_float32(weight).mT
    bias = torch.zeros(1, device=products.device) if path.bias is None else to_float32(path.bias)
    times = 100.0 if rounding_tolerance(logits.dtype) < 1e-3 else 3.0
    config = getattr(model, "config", None)
    cap = getattr(config.get_text_config(), "final_logit_softcapping", None) if config is not None else None
    capped = replace(path, softcap=cap)
    if cap is not None and is_close(capped.apply_softcap(products + bias).to(logits.dtype), logits, times):
        return capped
    factor = float(((to_float32(logits) - bias) * products).sum() / (products * products).sum())
    if not is_close((products * factor + bias).to(logits.dtype), logits, times):
        raise Problem("the model does something to its logits that is neither a product with a number nor a soft-cap")
    return replace(path, factor=1.0 if abs(factor - 1) < 10 * rounding_tolerance(logits.dtype) else factor)


def _find_steps(end: Tensor, outside: list[Passage], kept: Tensor) -> tuple[tuple[FrozenMap, ...], Tensor]:
    """Norms, layers and activations after the end of the stream, and the output of the last one.

    Where only positions `kept` went through a module, all do now.
    """
    steps: list[FrozenMap] = []
    while (step := _next_step(end, outside, kept)) is not None and len(steps) < len(outside):
        steps.append(step[0])
        end = step[1]
    return tuple(steps), end


def _next_step(hidden: Tensor, outside: list[Passage], kept: Tensor) -> tuple[FrozenMap, Tensor] | None:
    """Module that takes these hidden states, as a map, with its output; or the activation before the next module."""
    leaves = [
        passage.run_on(hidden) if passage.takes_one_input and _is_some_of(passage.hidden_in, hidden, kept) else passage
        for passage in outside
        if not any(True for _ in passage.module.children())
    ]
    for passage in leaves:
        if passage.hidden_in.shape != hidden.shape or not torch.equal(passage.hidden_in, hidden):
            continue
        if isinstance(passage.module, nn.Linear):
            bias = passage.module.bias
            weight = passage.module.weight.detach()
            return FrozenMap(
                passage.name, matrix=weight, bias=None if bias is None else bias.detach()
            ), passage.hidden_out
        norm = passage.as_norm()
        if norm is not None and not torch.equal(passage.hidden_in, passage.hidden_out):
            return norm, passage.hidden_out
    for passage in leaves:
        some = passage.hidden_in.shape != hidden.shape
        inputs = hidden[:, kept] if some and hidden.dim() == 3 else hidden
        name = _find_activation(inputs, passage.hidden_in)
        if name is not None:
            outputs = ACTIVATIONS[name](hidden) if some else passage.hidden_in
            return _freeze_activation(name, hidden, outputs), outputs
    return None


def _is_some_of(some: Tensor, hidden: Tensor, kept: Tensor) -> bool:
    """Whether `some` are hidden states (B, Q, M) at the positions `kept` alone."""
    return hidden.dim() == 3 and len(kept) < hidden.shape[1] and is_close(some, hidden[:, kept], 1.0)


def _find_activation(inputs: Tensor, outputs: Tensor) -> str | None:
    """Name of the known activation from `inputs` to `outputs`; None if none fits."""
    return next((name for name, function in ACTIVATIONS.items() if is_close(function(inputs), outputs)), None)


def _freeze_activation(name: str, inputs: Tensor, outputs: Tensor) -> FrozenMap:
    """Activation linearised by its slopes."""
    point = to_float32(inputs).detach().requires_grad_()
    with torch.enable_grad():
        (slopes,) = torch.autograd.grad(ACTIVATIONS[name](point).sum(), point)
    return FrozenMap("remainder", scale=slopes, bias=to_float32(outputs) - slopes * to_float32(inputs), function=name)


def find_start(
    model: nn.Module, first: Tensor, outside: list[Passage], tables: dict[str, Tensor]
) -> StreamStart | None:
    """How the stream begins: the norm of the embeddings, if there is one, and what is added to the token's.

    None if it begins in another way.
    """
    ask = getattr(model, "get_input_embeddings", None)
    embedding = ask() if callable(ask) else None
    names = modules_by_name(model)
    weight = getattr(embedding, "weight", None)
    of_tokens = {name for name in tables if weight is not None and getattr(names[name], "weight", None) is weight}
    others = {name: t for name, t in tables.items() if name not in of_tokens and t.shape[1:] == first.shape[1:]}
    token = next((table for name, table in tables.items() if name in of_tokens), None)
    if token is None or token.shape[1:] != first.shape[1:]:
        return None
    last = [p for p in outside if p.hidden_out.shape == first.shape and torch.equal(p.hidden_out, first)]
    for norm in (None, *last):
        for vectors in (others, *({**others, "positions": rows} for rows in _kept_vectors(model, first))):
            factor = _token_factor(first if norm is None else norm.hidden_in, token, vectors)
            measured = None if norm is None or factor is None else norm.as_norm()
            if factor is not None and (norm is None or measured is not None):
                return StreamStart(measured, {_table_kind(name): table for name, table in vectors.items()}, factor)
    return None


def _kept_vectors(model: nn.Module, first: Tensor) -> Iterator[Tensor]:
    """The first vectors (1, Q, M) of tables that the model keeps as mere tensors, as CTRL keeps those of positions."""
    length, width = first.shape[1:]
    for module in model.children():
        tables = (table for table in module.buffers(recurse=False) if table.dim() == 2 and table.shape[1] == width)
        yield from (table[None, :length].to(first) for table in tables if len(table) >= length)


def _token_factor(target: Tensor, token: Tensor, others: dict[str, Tensor]) -> float | None:
    """What the token embeddings are multiplied by where `target` (B, Q, M) is their sum with the other vectors."""
    others_sum = sum((to_float32(vectors) for vectors in others.values()), torch.zeros_like(to_float32(token)))
    factor = ((to_float32(target) - others_sum) * to_float32(token)).sum() / to_float32(token).square().sum().clamp_min(
        1e-30
    )
    fits = is_close((factor * to_float32(token) + others_sum).to(target.dtype), target, 2.0)
    return float(factor) if fits else None


def _table_kind(name: str) -> str:
    """Name of a table's term: "positions" for position embeddings, else the table's own name."""
    last = name.rpartition(".")[2]
    return "positions" if "pos" in last or last == "wpe" else name
