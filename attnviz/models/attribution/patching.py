"""Activation patching: the change of a logit when activations of another prompt's pass are put into a pass.

The linearised effect of every head and stream position takes two passes and one backward. The exact effect takes one
pass for a few cells.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from attnviz.base.message import MessageList, Problem, require_whole
from attnviz.base.words import N_
from attnviz.models.capture.edit import Edit
from attnviz.models.capture.forward_pass import has_two_stacks, unwrap_model
from attnviz.models.capture.head_selection import resolve_index, to_float32
from attnviz.models.capture.recorder import require_gradient
from attnviz.models.capture.run import intervene
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import token_ids

Model = nn.Module | LoadedModel
Prompt = str | Tensor | Mapping[str, Any]  #: a sentence, token ids (1, T), or the model's arguments by name
Among = Literal["heads", "positions", "streams"]


_ONE_LIST = N_("patching needs a model with one list of self-attention layers")


class Cell(NamedTuple):
    """A patched activation: a head of a layer, or the residual stream where the layer begins. Indices count from 0."""

    layer: int
    head: int | None = None  #: None: the residual stream
    position: int | None = None  #: None: all positions


@dataclass(frozen=True)
class Measure:
    """The measured number: the logit of `token`, or its difference from the logit of `versus`, at a position."""

    token: int
    versus: int | None = None
    position: int | None = None  #: None: the last real one
    tokenizer: Any = None

    @staticmethod
    def from_tokens(
        model: Model, token: int | str, versus: int | str | None, position: int | None, tokenizer: Any
    ) -> Measure:
        """Measure of tokens given by id or text; a loaded model brings its own tokenizer."""
        reader = model.tokenizer if tokenizer is None and isinstance(model, LoadedModel) else tokenizer
        ids = token_ids(reader, token, versus)
        output = getattr(unwrap_model(model), "get_output_embeddings", lambda: None)()
        if isinstance(output, nn.Linear):  # found before the first pass
            for one in ids if versus is not None else ids[:1]:
                resolve_index("token", one, output.out_features)
        if position is not None:
            resolve_index("position", position, sys.maxsize)
        return Measure(*ids, position, tokenizer)

    def evaluate(self, trace: Trace) -> Tensor:
        """Value of the measure in each row, (B,)."""
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


@dataclass(frozen=True, eq=False, repr=False)
class Patching:
    """First-order effects on the measure of patching clean activations into the corrupted run.

    `before` is the measure of the corrupted run, `after` that of the clean one. `activation_patching` may differ where
    an activation is far from its clean value, or where a softmax is saturated.
    """

    heads: Tensor  #: (L, H, T); NaN where a layer has fewer heads
    streams: Tensor  #: (L, T): the residual stream where each block begins
    before: float
    after: float
    layers: tuple[str, ...] = ()  #: the attention layers' dotted names
    tokens: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  #: labels of both prompts, clean first, where known

    def __repr__(self) -> str:
        most = ", ".join(f"{cell.layer}.{cell.head} {self.at(cell):+.2f}" for cell in self.top(3))
        layers, heads, length = self.heads.shape
        sizes = f"{layers} layers, {heads} heads, {length} tokens"
        return f"<Patching from {self.before:.2f} to {self.after:.2f}: heads {most}, ...; {sizes}>"

    @property
    def by_head(self) -> Tensor:
        """Effect of each head at all positions together, (L, H)."""
        return self.heads.sum(-1)

    def at(self, cell: Cell) -> float:
        """Linearised effect of one cell."""
        values = self.streams[cell.layer] if cell.head is None else self.heads[cell.layer, cell.head]
        return float(values.sum() if cell.position is None else values[cell.position])

    def top(self, n: int = 10, among: Among = "heads") -> list[Cell]:
        """The n cells of largest effect, up or down.

        `among` "heads" are heads at all positions together, "positions" heads at one position, "streams" the residual
        stream at one position.
        """
        maps = {"heads": self.by_head, "positions": self.heads, "streams": self.streams}
        if among not in maps:
            raise Problem("among={among} must be one of {names}", among=repr(among), names=MessageList(maps))
        values = maps[among]
        best = values.nan_to_num(0.0).abs().flatten().topk(min(n, values.numel())).indices
        places = torch.stack(torch.unravel_index(best, values.shape), 1).tolist()
        return [Cell(index[0], None, index[1]) if among == "streams" else Cell(*index) for index in places]

    def correlation(self, exact: Iterable[tuple[Cell, float]]) -> float:
        """Pearson correlation of exact with linearised effects of the same cells; NaN for fewer than 2."""
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
    """Linearised effect of patching every head and the residual stream, at every position, into the corrupted run.

    The measure is the logit of `token`, or its difference from that of `versus`, at `position` or the last real one.
    Tokens are ids or texts, as in `Trace.logit_attribution`. Both prompts, texts or ids, must have the same number of
    tokens. Two passes and one backward.
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


def activation_patching(
    model: Model,
    clean: Prompt,
    corrupted: Prompt,
    token: int | str,
    cells: Iterable[Cell | tuple[int, ...]],
    versus: int | str | None = None,
    position: int | None = None,
    tokenizer: Any = None,
    at_once: int = 8,
) -> Iterator[tuple[Cell, float]]:
    """Yield each cell, as it was given, with the exact change of the measure when it is patched into the corrupted run.

    Two passes run both prompts; then each pass measures `at_once` cells.
    """
    measure = Measure.from_tokens(model, token, versus, position, tokenizer)
    require_whole("at_once", at_once)
    return _exact_effects(model, clean, corrupted, measure, parse_cells(cells), at_once)


def _exact_effects(
    model: Model, clean: Prompt, corrupted: Prompt, measure: Measure, cells: Iterator[GivenCell], at_once: int
) -> Iterator[tuple[Cell, float]]:
    """Yield each cell with its exact effect."""
    good, bad = clean_and_corrupted_pass(model, clean, corrupted, measure)
    before, left = float(measure.evaluate(bad.trace)), ((given, good.resolve_cell(cell)) for given, cell in cells)
    while some := list(islice(left, at_once)):
        inputs = {name: repeat_rows(value, len(some)) for name, value in bad.inputs.items()}
        edits = good.edits_for([cell for _, cell in some])
        trace = intervene(model, edits, **inputs, logits="last" if measure.position is None else "all")
        yield from zip((given for given, _ in some), (measure.evaluate(trace) - before).tolist(), strict=True)


GivenCell = tuple[Any, Cell]  #: a cell as it was given, and parsed


def parse_cells(cells: Iterable[tuple[Any, ...]]) -> Iterator[GivenCell]:
    """Yield each cell as it was given and as a Cell; raises a Problem for what is none."""
    if not isinstance(cells, Iterable):
        raise Problem(
            "{cells} are no cells: give a list of (layer, head) or (layer, head, position)", cells=repr(cells)
        )

    def parse(cell: Any) -> GivenCell:
        try:
            return tuple(cell) if isinstance(cell, list) else cell, Cell(*cell)
        except TypeError as error:
            raise Problem(
                "{cell} is no cell: give (layer, head) or (layer, head, position)", cell=repr(cell)[:60]
            ) from error

    return map(parse, cells)


@dataclass(frozen=True, eq=False)
class PromptPass:
    """A pass of one prompt, with its head outputs and the residual stream at the input of each block."""

    trace: Trace
    inputs: dict[str, Any]
    streams: list[Tensor]

    @staticmethod
    def run(model: Model, prompt: Prompt, measure: Measure, grad: bool = False) -> PromptPass:
        """Run the prompt; with `grad`, its activations stay in the graph."""
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
        """Head outputs of each layer, (1, H, T, Dv)."""
        return [layer.head_outputs() for layer in self.trace]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of its tokens; empty where they are not known."""
        tokens = self.trace.tokens
        return tuple(map(str, tokens[0] if tokens and isinstance(tokens[0], tuple) else tokens))

    @property
    def length(self) -> int:
        """Number of tokens; raises a Problem unless the pass is one prompt through self-attention layers."""
        shapes = {(layer.kind, layer.shape[0], layer.shape[2]) for layer in self.trace}
        kind, batch, length = shapes.pop()
        if shapes or kind != "self":
            raise Problem(_ONE_LIST)
        if batch != 1:
            raise Problem("give one prompt to each side; one of them has {rows} rows", rows=batch)
        return length

    def resolve_cell(self, cell: Cell) -> Cell:
        """Cell with non-negative indices; raises a Problem if it is not one of this pass."""
        layer = resolve_index("layer", cell.layer, len(self.streams if cell.head is None else self.trace))
        head = None if cell.head is None else resolve_index("head", cell.head, self.trace[layer].n_heads)
        return Cell(
            layer, head, None if cell.position is None else resolve_index("position", cell.position, self.length)
        )

    def edits_for(self, cells: list[Cell]) -> list[Edit]:
        """Edits that put one cell of this pass into each row of a batch."""
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
    """Run both prompts; raises a Problem if they differ in length."""
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
    """Positional and keyword arguments with which a model takes the prompt."""
    return ((), dict(prompt)) if isinstance(prompt, Mapping) else ((prompt,), {})


def repeat_rows(value: Any, rows: int) -> Any:
    return value.repeat_interleave(rows, 0) if isinstance(value, Tensor) and value.dim() > 1 else value
