"""Activation patching: what a logit would have been, had one part of a pass been taken from the pass of another prompt.

The linearised effect of every part at once takes two passes and one backward; the exact effect of chosen parts takes a
pass for a few of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from attnviz.base.message import MessageList, Problem
from attnviz.base.words import N_
from attnviz.models.capture.edit import Edit
from attnviz.models.capture.forward_pass import has_two_stacks, unwrap_model
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.capture.recorder import require_gradient
from attnviz.models.capture.run import intervene
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import token_id

Model = nn.Module | LoadedModel
Prompt = str | Tensor | Mapping[str, Any]  #: a sentence, token ids (1, T), or the model's arguments by name
Among = Literal["heads", "positions", "streams"]


_ONE_LIST = N_("patching needs a model with one list of self-attention layers")


class Cell(NamedTuple):
    """What is patched: a head of a layer, or the residual stream where the layer begins; numbers count from 0."""

    layer: int
    head: int | None = None  #: None: the residual stream
    position: int | None = None  #: None: all positions


@dataclass(frozen=True)
class Measure:
    """A number taken from the logits: that of `token`, or its lead over `versus`, at a position."""

    token: int
    versus: int | None = None
    position: int | None = None  #: None: the last real one
    tokenizer: Any = None

    @staticmethod
    def from_tokens(
        model: Model, token: int | str, versus: int | str | None, position: int | None, tokenizer: Any
    ) -> Measure:
        """The measure by ids or texts of tokens; what `load` gives knows its tokenizer."""
        reader = model.tokenizer if tokenizer is None and isinstance(model, LoadedModel) else tokenizer
        return Measure(token_id(reader, token), token_id(reader, versus), position, tokenizer)

    def evaluate(self, trace: Trace) -> Tensor:
        """(B,)"""
        logits = trace.logits
        if logits is None:
            raise Problem("this model gives no logits")
        if self.position is not None and logits.dim() == 3:
            resolve_index("position", self.position, logits.shape[1])
            logits = logits[:, self.position]
        for token in (self.token, self.token if self.versus is None else self.versus):
            resolve_index("token", token, logits.shape[-1])
        token_logits = to_float32(logits[:, self.token])
        return token_logits if self.versus is None else token_logits - to_float32(logits[:, self.versus])


@dataclass(frozen=True, eq=False)
class Patching:
    """What patching each part of the clean run into the corrupted one adds to the measure, to first order.

    `before` is the measure of the corrupted run, `after` that of the clean one. Linearised: of a part that is far from
    its clean value, or that a softmax has saturated, `exact_patching` may say something else.
    """

    heads: Tensor  #: (L, H, T); NaN where a layer has fewer heads
    streams: Tensor  #: (L, T): the residual stream where each block begins
    before: float
    after: float
    layers: tuple[str, ...] = ()  #: the attention layers' dotted names
    tokens: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  #: labels of both prompts, clean first, where known

    @property
    def by_head(self) -> Tensor:
        """(L, H): each head at all positions together."""
        return self.heads.sum(-1)

    def at(self, cell: Cell) -> float:
        """The linearised effect of one cell."""
        values = self.streams[cell.layer] if cell.head is None else self.heads[cell.layer, cell.head]
        return float(values.sum() if cell.position is None else values[cell.position])

    def top(self, n: int = 10, among: Among = "heads") -> list[Cell]:
        """The cells of largest effect, up or down: heads at all positions together, or at one, or the stream at one."""
        maps = {"heads": self.by_head, "positions": self.heads, "streams": self.streams}
        if among not in maps:
            raise Problem("among={among} must be one of {names}", among=repr(among), names=MessageList(maps))
        values = maps[among]
        best = values.nan_to_num(0.0).abs().flatten().topk(min(n, values.numel())).indices
        places = torch.stack(torch.unravel_index(best, values.shape), 1).tolist()
        return [Cell(index[0], None, index[1]) if among == "streams" else Cell(*index) for index in places]

    def correlation(self, exact: Iterable[tuple[Cell, float]]) -> float:
        """Pearson's correlation of exact effects with the linearised ones of the same cells; NaN for fewer than 2."""
        pairs = torch.tensor([(self.at(cell), value) for cell, value in exact], dtype=torch.float64)
        return float(torch.corrcoef(pairs.T)[0, 1]) if len(pairs) > 1 else float("nan")


def attribution_patching(
    model: Model,
    clean: Prompt,
    corrupted: Prompt,
    token: int | str,
    versus: int | str | None = None,
    position: int | None = None,
    tokenizer: Any = None,
) -> Patching:
    """The linearised effect of patching every head and the residual stream, at every position, into the corrupted run.

    The measure is the logit of `token`, or its lead over `versus`, at the last real position or at `position`: ids, or
    texts as in `Trace.logit_attribution`. Both prompts, sentences or ids, must have the same number of tokens. Two
    passes and one backward.
    """
    measure = Measure.from_tokens(model, token, versus, position, tokenizer)
    good, bad = clean_and_corrupted_pass(model, clean, corrupted, measure, grad=True)
    value = measure.evaluate(bad.trace)
    parts = [*bad.outputs, *bad.streams]
    slopes = torch.autograd.grad(value.sum(), parts, materialize_grads=True)
    effects = [
        (to_float32(slope) * (to_float32(new) - to_float32(old)).detach()).sum(-1)[0].cpu()
        for slope, new, old in zip(slopes, [*good.outputs, *good.streams], parts, strict=True)
    ]
    heads, streams = effects[: len(bad.outputs)], effects[len(bad.outputs) :]
    most = max(map(len, heads))
    return Patching(
        torch.stack([nn.functional.pad(effect, (0, 0, 0, most - len(effect)), value=torch.nan) for effect in heads]),
        torch.stack(streams),
        float(value.detach()),
        float(measure.evaluate(good.trace)),
        tuple(layer.name for layer in bad.trace),
        (good.labels, bad.labels),
    )


def exact_patching(
    model: Model,
    clean: Prompt,
    corrupted: Prompt,
    token: int | str,
    cells: Iterable[Cell],
    versus: int | str | None = None,
    position: int | None = None,
    tokenizer: Any = None,
    at_once: int = 8,
) -> Iterator[tuple[Cell, float]]:
    """What patching each of these cells into the corrupted run adds to the measure: cell and number, as they come.

    The first two passes are those of both prompts; then one pass answers for `at_once` cells.
    """
    measure = Measure.from_tokens(model, token, versus, position, tokenizer)
    good, bad = clean_and_corrupted_pass(model, clean, corrupted, measure)
    before, left = float(measure.evaluate(bad.trace)), (good.resolve_cell(Cell(*cell)) for cell in cells)
    while some := list(islice(left, at_once)):
        inputs = {name: repeat_rows(value, len(some)) for name, value in bad.inputs.items()}
        trace = intervene(model, good.edits_for(some), **inputs, logits="last" if position is None else "all")
        yield from zip(some, (measure.evaluate(trace) - before).tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class PromptPass:
    """A pass of one prompt: what its heads handed on, and the residual stream where each block began."""

    trace: Trace
    inputs: dict[str, Any]
    streams: list[Tensor]

    @staticmethod
    def run(model: Model, prompt: Prompt, measure: Measure, grad: bool = False) -> PromptPass:
        """The pass; with `grad`, gradients can be asked for what it holds."""
        streams: list[Tensor] = []

        def keep(stream: Tensor) -> Tensor:
            streams.append(require_gradient(stream))
            return streams[-1]

        args, inputs = model_arguments(prompt)
        logits: Any = "last" if measure.position is None else "all"
        trace = intervene(
            model, Edit(stream=keep), *args, **inputs, logits=logits, grad=grad, tokenizer=measure.tokenizer
        )
        return PromptPass(trace, dict(trace.inputs) | inputs, streams)

    @property
    def outputs(self) -> list[Tensor]:
        """Of each layer, (1, H, T, Dv)."""
        return [layer.head_outputs() for layer in self.trace]

    @property
    def labels(self) -> tuple[str, ...]:
        """Of its tokens, where they are known."""
        tokens = self.trace.tokens
        return tuple(map(str, tokens[0] if tokens and isinstance(tokens[0], tuple) else tokens))

    @property
    def length(self) -> int:
        """How many tokens it has; a Problem where the pass is not one of a prompt that looks at itself."""
        shapes = {(layer.kind, layer.shape[0], layer.shape[2]) for layer in self.trace}
        kind, batch, length = shapes.pop()
        if shapes or kind != "self":
            raise Problem(_ONE_LIST)
        if batch != 1:
            raise Problem("give one prompt to each side; one of them has {rows} rows", rows=batch)
        return length

    def resolve_cell(self, cell: Cell) -> Cell:
        """The cell with its numbers counted from 0; a Problem where it is not one of this pass."""
        layer = resolve_index("layer", cell.layer, len(self.streams if cell.head is None else self.trace))
        head = None if cell.head is None else resolve_index("head", cell.head, self.trace[layer].n_heads)
        return Cell(
            layer, head, None if cell.position is None else resolve_index("position", cell.position, self.length)
        )

    def edits_for(self, cells: list[Cell]) -> list[Edit]:
        """The edits that put one cell of this pass into each row of a batch."""
        edits, blocks = [], count()
        for number in sorted({cell.layer for cell in cells if cell.head is not None}):
            layer = self.trace[number]
            mine = [(row, cell) for row, cell in enumerate(cells) if cell.layer == number and cell.head is not None]
            put = partial(_insert_cells, layer.head_outputs(), mine)
            edits.append(Edit(layers=layer.name, run=layer.run, output=put))

        def put_stream(stream: Tensor) -> Tensor:
            number = next(blocks)
            mine = [(row, cell) for row, cell in enumerate(cells) if cell.layer == number and cell.head is None]
            return _insert_cells(self.streams[number], mine, stream)

        return edits + ([Edit(stream=put_stream)] if any(cell.head is None for cell in cells) else [])


def clean_and_corrupted_pass(
    model: Model, clean: Prompt, corrupted: Prompt, measure: Measure, grad: bool = False
) -> tuple[PromptPass, PromptPass]:
    """The clean and the corrupted pass; a Problem where they differ in length."""
    if has_two_stacks(unwrap_model(model)):
        raise Problem(_ONE_LIST)
    good, bad = PromptPass.run(model, clean, measure), PromptPass.run(model, corrupted, measure, grad)
    if good.length != bad.length:
        raise Problem(
            "the clean prompt has {clean} tokens and the corrupted one {corrupted}: patching needs as many in both",
            clean=good.length,
            corrupted=bad.length,
        )
    return good, bad


def _insert_cells(source: Tensor, cells: list[tuple[int, Cell]], values: Tensor) -> Tensor:
    """`values` (B, H, T, Dv) or (B, T, M), with one cell of `source` in each of these rows."""
    for row, cell in cells:
        at = [slice(None) if cell.position is None else cell.position]
        index = (at[0],) if cell.head is None else (cell.head, at[0])
        values[(row, *index)] = source[(0, *index)]
    return values


def model_arguments(prompt: Prompt) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A prompt as a model takes it: by position, or by the names of the model's arguments."""
    return ((), dict(prompt)) if isinstance(prompt, Mapping) else ((prompt,), {})


def repeat_rows(value: Any, rows: int) -> Any:
    return value.repeat_interleave(rows, 0) if isinstance(value, Tensor) and value.dim() > 1 else value


def resolve_index(name: str, number: int, many: int) -> int:
    """The number counted from 0; a Problem where there are not so many."""
    if not -many <= number < many:
        raise Problem(
            "{name}={number} must be from {first} to {last}", name=name, number=number, first=-many, last=many - 1
        )
    return number % many
