"""QK and OV circuits of a head over the vocabulary, and composition scores between heads, from weights alone.

Elhage et al. 2021, "A mathematical framework for transformer circuits": QK leads from a query's token to a key's, OV
from an attended token to the logits. No matrix of vocabulary times vocabulary or width times width is built.
Projections are run, not read: fused, grouped, adapted and normed ones all work.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from attnviz.base.extras import load_figures, pandas
from attnviz.base.message import Message, MessageList, Problem, require_whole
from attnviz.models.attribution.patching import Model
from attnviz.models.capture.forward_pass import (
    attach_hooks,
    block_name,
    has_two_stacks,
    input_device,
    is_hidden,
    is_within,
    modules_by_name,
    parent_name,
    replace_hidden,
    this_thread_only,
    unwrap_model,
)
from attnviz.models.capture.head_selection import resolve_index, to_float32
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.residual import LogitPath, Residual, freeze_norm
from attnviz.models.capture.run import capture
from attnviz.models.capture.stream_parts import BlockCall, BlockListener, ModelPass, StopRun, StreamStart
from attnviz.models.capture.trace import Trace
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import label_of, token_id

if TYPE_CHECKING:
    import pandas as pd

ROWS = 512  #: tokens at a time

_TOKEN = 7  #: of the pass that shows how the parts of a model are called; tokens before it may stand for padding

TokenPair = tuple[int, int, float]  #: a token, another one, and their score


@dataclass(frozen=True, eq=False, repr=False)
class HeadCircuits:
    """QK and OV circuits of one head over V tokens.

    Scores of `matches` are those before the softmax, as the model scales them. Scores of `writes` are logits before a
    soft-cap, for a head that attends to the token alone, with the scale of every norm set to 1.
    """

    tokens: Tensor  #: (V,): ids
    queries: Tensor  #: (V, D), times the model's scale
    keys: Tensor  #: (V, D)
    values: Tensor  #: (V, Dv)
    logits: Tensor | None  #: (V', Dv): of all tokens; None where a head's output does not reach the logits unchanged
    why: Message | None = None  #: why not
    tokenizer: Any = None  #: for labels of tokens

    def __repr__(self) -> str:
        writes = "its logits" if self.logits is not None else "no logits"
        return f"<HeadCircuits over {len(self.tokens)} tokens, with {writes}: .matches(), .writes()>"

    def matches(self, query: int | None = None, n: int = 10, lowest: bool = False) -> list[TokenPair]:
        """The n best (query, key, score) of a query's token, None: of all tokens. `lowest` gives the worst instead."""
        best = _best_pairs(self._select_rows(self.queries, query), self.keys, n, lowest)
        return [(self._token_id(row, query), int(self.tokens[column]), score) for row, column, score in best]

    def writes(self, token: int | None = None, n: int = 10, lowest: bool = False) -> list[TokenPair]:
        """The n best (token, raised token, logit) of an attended token, None: of all. `lowest`: the worst."""
        if self.logits is None:
            raise Problem("what this head writes cannot be told by its weights: {why}", why=self.why)
        best = _best_pairs(self._select_rows(self.values, token), self.logits, n, lowest)
        return [(self._token_id(row, token), column, score) for row, column, score in best]

    def to_dataframe(self, n: int = 10) -> pd.DataFrame:
        """The n best pairs of each circuit: circuit, token, other, their labels and the score. Needs pandas.

        Of "qk" `token` is the query's and `other` the key's; of "ov" `token` is attended to and `other` raised.
        """
        rows = [
            {"circuit": circuit, "token": one, "other": other}
            | {"token_label": self._label(one), "other_label": self._label(other), "score": score}
            for circuit, pairs in self._best(n).items()
            for one, other, score in pairs
        ]
        return pandas().DataFrame(rows)

    def plot(self, n: int = 10) -> Any:
        """A Plotly figure: the n best pairs of each circuit as bars."""
        best = {
            circuit: [(f"{self._label(one)} → {self._label(other)}", score) for one, other, score in pairs]
            for circuit, pairs in self._best(n).items()
        }
        return load_figures("library_charts").draw_token_pairs(best)

    def _best(self, n: int) -> dict[str, list[TokenPair]]:
        return {"qk": self.matches(n=n)} | ({} if self.logits is None else {"ov": self.writes(n=n)})

    def _label(self, token: int) -> str:
        return str(token) if self.tokenizer is None else label_of(self.tokenizer, token)

    def _select_rows(self, of: Tensor, token: int | None) -> Tensor:
        chosen = of if token is None else of[self.tokens == token]
        if not len(chosen):
            raise Problem("token {token} is not one of the {count} of these circuits", token=token, count=len(of))
        return chosen

    def _token_id(self, row: int, token: int | None) -> int:
        return int(self.tokens[row]) if token is None else token


def head_circuits(
    model: Model, layer: int, head: int, distance: int = 0, tokens: Sequence[int | str] | None = None
) -> HeadCircuits:
    """Compute the QK and OV circuits of a head over the vocabulary, or over `tokens`.

    Each token's embedding, with the norm of the embeddings if there is one, goes straight through the layer's norm and
    projections, with the query `distance` positions after the key. Positions that are added to it are left out.
    """
    tokenizer = model.tokenizer if isinstance(model, LoadedModel) else None
    model = unwrap_model(model)
    embeds = getattr(model, "get_input_embeddings", lambda: None)()
    if not isinstance(embeds, nn.Embedding):
        raise Problem("{model} does not say what embeds its tokens", model=type(model).__name__)
    chosen = [resolve_index("token", token_id(tokenizer, token), embeds.num_embeddings) for token in tokens or ()]
    if tokens is not None and not chosen:
        raise Problem("tokens is empty: name at least one, or leave it out for the vocabulary")
    trace, model_pass, here = _run_one_token(model, 0)
    stream = trace.residual
    assert stream is not None  # which was asked for
    recorded = trace[resolve_index("layer", layer, len(trace))]
    head, block = resolve_index("head", head, recorded.n_heads), block_name(recorded.name) or recorded.name
    if block not in here:
        raise Problem("{name} is not given a residual stream", name=block)
    if embeds.embedding_dim != here[block].hidden.shape[-1]:
        raise Problem("the token vectors of {model} are not as wide as its stream", model=type(model).__name__)
    kv_head = head * recorded.n_kv_heads // recorded.n_heads
    start = model_pass.starts.get(parent_name(block), StreamStart())
    require_whole("distance", distance, 0)
    there = here if distance == 0 else _run_one_token(model, distance)[2]
    ids = torch.arange(embeds.num_embeddings) if tokens is None else torch.tensor(chosen)
    parts: list[tuple[Tensor, Tensor, Tensor]] = []
    for some in ids.split(8 * ROWS):
        with torch.no_grad():
            rows = start.stream_of(model, embeds(some.to(input_device(embeds)))[:, None])  # (N, 1, M)
        later, first = (_read_attention(model_pass, block, recorded, calls[block], rows) for calls in (there, here))
        q, _, _ = later.qkv
        _, k, v = first.qkv
        parts.append(
            (to_float32(q[:, head, 0]) * recorded.scale, to_float32(k[:, kv_head, 0]), to_float32(v[:, kv_head, 0]))
        )
    queries, keys, values = (torch.cat(chunks) for chunks in zip(*parts, strict=True))
    bends = stream.path is not None and any(step.function for step in stream.path.steps)  # an activation on the way
    why = stream.why or (stream.linearised if bends else None)
    logits = None if stream.path is None or why is not None else _logit_map(stream, stream.path, recorded, trace, head)
    return HeadCircuits(ids, queries, keys, values, logits, why, tokenizer)


def _logit_map(stream: Residual, path: LogitPath, layer: RecordedLayer, trace: Trace, head: int) -> Tensor:
    """Map from a head's output to the logits, (V, Dv), with the scale of every norm set to 1."""
    projection = layer.w_o_by_head[head] * path.factor  # (M, Dv)
    steps = tuple(replace(step, scale=None) for step in path.steps)
    still = {key: replace(frozen_map, scale=None) for key, frozen_map in stream.maps.items()}
    plain, number = replace(stream, path=replace(path, steps=steps), maps=still), trace.layers.index(layer)
    chunks = (to_float32(rows)[None] for rows in path.unembedding.split(ROWS))
    ways = (
        plain.find_directions(rows, torch.zeros(rows.shape[:2], dtype=torch.long, device=rows.device))
        for rows in chunks
    )
    return torch.cat([way.heads[number][0][0] @ projection for way in ways])


def _best_pairs(left: Tensor, right: Tensor, n: int, lowest: bool) -> list[TokenPair]:
    """The n largest products, or the n lowest, as (row of left, row of right, product)."""
    sign, best = -1 if lowest else 1, list[TokenPair]()
    for start in range(0, len(left), ROWS):
        products = sign * left[start : start + ROWS] @ right.mT
        rows = products.amax(1).topk(min(n, len(products))).indices  # the n largest lie in at most n rows
        top = products[rows].flatten().topk(min(n, len(rows) * len(right)))
        for index, value in zip(top.indices.tolist(), top.values.tolist(), strict=True):
            best.append((start + int(rows[index // len(right)]), index % len(right), sign * value))
    return sorted(best, key=lambda pair: -sign * pair[2])[:n]


@dataclass(frozen=True, eq=False, repr=False)
class Composition:
    """Composition scores of pairs of heads, (L, H, L, H): earlier head first.

    The Frobenius norm of the product of both circuits over the norms of the circuits (Elhage et al. 2021). Scores
    lie between 0 and 1, and above 0 for random weights too. They are NaN where the second layer is not the later one,
    and where a layer norms its queries, keys or values: no matrix stands for the circuit then.
    """

    q: Tensor
    k: Tensor
    v: Tensor

    def __repr__(self) -> str:
        layers, heads = self.q.shape[:2]
        return f"<Composition of {layers} layers of {heads} heads: .q, .k and .v>"

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each pair of heads: through, earlier, earlier_head, later, later_head, score. Needs pandas."""
        rows = [
            {"through": through, "earlier": earlier, "earlier_head": one, "later": later, "later_head": other}
            | {"score": float(scores[earlier, one, later, other])}
            for through, scores in (("q", self.q), ("k", self.k), ("v", self.v))
            for earlier, one, later, other in scores.isfinite().nonzero().tolist()
        ]
        return pandas().DataFrame(rows)

    def plot(self) -> Any:
        """A Plotly figure: a map of earlier heads by later ones through each of q, k and v."""
        layers, heads = self.q.shape[:2]
        names = [f"{layer}.{head}" for layer in range(layers) for head in range(heads)]
        grids = {name: getattr(self, name).cpu().reshape(len(names), -1).numpy() for name in "qkv"}
        return load_figures("library_charts").draw_composition(names, grids)


def composition_scores(model: Model) -> Composition:
    """Compute the composition scores of all pairs of heads, through the later head's queries, keys and values.

    The gain of a layer's own norm is part of what it reads; norms after attention are not counted.
    """
    model = unwrap_model(model)
    trace, model_pass, calls = _run_one_token(model, 0)
    heads = {layer.n_heads for layer in trace}
    if len(heads) != 1:
        raise Problem(
            "composition scores are of layers with one number of heads; this model has {several}",
            several=MessageList(heads),
        )
    maps = [_HeadMaps.read_layer(model_pass, calls, layer) for layer in trace]
    all_scores = [torch.full((len(maps), *heads, len(maps), *heads), torch.nan) for _ in "qkv"]
    for later, reads in enumerate(maps):
        for earlier, writes in enumerate(maps[:later]):
            for scores, pair_scores in zip(all_scores, reads.composition_norms(writes), strict=True):
                scores[earlier, :, later] = pair_scores
    return Composition(*all_scores)


@dataclass(frozen=True)
class _HeadMaps:
    """Matrices by which heads read, (H, M, D), and write, (H, M, Dv), and the R of their QR decompositions."""

    q: Tensor
    k: Tensor
    v: Tensor
    o: Tensor
    r: dict[str, Tensor]

    @staticmethod
    def read_layer(model_pass: ModelPass, calls: dict[str, _ModuleCall], layer: RecordedLayer) -> _HeadMaps:
        attention = calls[layer.name]
        if attention.hidden.shape[-1] != layer.w_o_by_head.shape[1]:
            raise Problem("{name} reads more than the residual stream that heads write to", name=layer.name)
        gain, centres = _find_norm_before(attention.hidden, calls, block_name(layer.name) or layer.name)
        basis = torch.diag(gain) - (gain / len(gain) if centres else 0.0)
        ramp = torch.linspace(-1, 1, len(gain), device=gain.device)[None]  # to see whether the map is a matrix at all
        rows = torch.cat([basis, ramp @ basis, 0 * ramp])[:, None].to(attention.hidden)
        parts = []
        for projected in _read_attention(model_pass, layer.name, layer, attention, rows).qkv:
            per_head = (
                to_float32(projected[:, :, 0]).repeat_interleave(layer.n_heads // projected.shape[1], 1).transpose(0, 1)
            )
            matrix, mixed = (per_head[:, :-1] - per_head[:, -1:]).split([len(gain), 1], 1)
            linear = float((ramp @ matrix - mixed).abs().max()) <= 0.1 * float(mixed.abs().max())
            parts.append(matrix if linear else matrix * torch.nan)
        q, k, v, o = parts = [*parts, layer.w_o_by_head]
        return _HeadMaps(
            q, k, v, o, {name: torch.linalg.qr(matrix, "r").R for name, matrix in zip("qkvo", parts, strict=True)}
        )

    def composition_norms(self, earlier: _HeadMaps) -> Iterator[Tensor]:
        """Composition scores with an earlier layer through q, k and v, (H, H) each: earlier head first."""
        written = torch.linalg.matrix_norm(earlier.r["o"] @ earlier.r["v"].mT)
        for reads, partner, side in ((self.q, "k", "q"), (self.k, "q", "k"), (self.v, "o", "v")):
            between = torch.einsum("rmd,smv->srdv", reads, earlier.o)
            joined = self.r[partner] @ between @ earlier.r["v"].mT[:, None]
            circuit_norm = torch.linalg.matrix_norm(self.r[partner] @ self.r[side].mT)
            yield torch.linalg.matrix_norm(joined) / (circuit_norm * written[:, None])


@dataclass(frozen=True)
class _ModuleCall:
    """One call of a module: its arguments and its output."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any

    @property
    def hidden(self) -> Tensor:
        """Hidden states among the arguments, (1, 1, M)."""
        return next(value for value in (*self.args, *self.kwargs.values()) if is_hidden(value))


def _run_one_token(model: nn.Module, position: int) -> tuple[Trace, ModelPass, dict[str, _ModuleCall]]:
    """Run one token at a position: its trace, the model, and the calls of all modules that take hidden states."""
    if has_two_stacks(model):  # cross-attention reads two streams
        raise Problem("circuits of heads are read in models with one list of self-attention layers")
    calls: dict[str, _ModuleCall] = {}

    def keep(name: str, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], answered: Any) -> None:
        if any(map(is_hidden, (*args, *kwargs.values()))):  # a cache would add this token's keys to later rows
            kept = {key: None if hasattr(value, "get_seq_length") else value for key, value in kwargs.items()}
            calls[name] = _ModuleCall(module, args, kept, answered)

    inputs: dict[str, Any] = {"input_ids": torch.full((1, 1), _TOKEN, device=input_device(model))}
    if "position_ids" in inspect.signature(model.forward).parameters:
        inputs["position_ids"] = torch.full_like(inputs["input_ids"], position)
    elif position:
        raise Problem("{model} takes no position_ids: only distance=0 can be asked for", model=type(model).__name__)
    with attach_hooks(
        module.register_forward_hook(this_thread_only(partial(keep, name)), with_kwargs=True)
        for name, module in modules_by_name(model).items()
    ):
        trace = capture(model, **inputs, residual=True)
    if trace.model_pass is None or not all(layer.exact for layer in trace):
        raise Problem("{model} is not a model of transformers that can be read exactly", model=type(model).__name__)
    return trace, trace.model_pass, calls


def _read_attention(
    model_pass: ModelPass, name: str, layer: RecordedLayer, seen: _ModuleCall, rows: Tensor
) -> RecordedLayer:
    """Attention layer that a module runs on `rows` (N, 1, M) in place of its own hidden states."""
    call = BlockCall(*replace_hidden(name, lambda _: rows, seen.args, seen.kwargs))
    reader = BlockListener(model_pass.model)
    reader.target, reader.change = layer.name, reader.change_layer
    try:
        _run_call(model_pass, reader, seen.module, call)
    except (RuntimeError, ValueError, IndexError):
        try:
            _run_call(model_pass, reader, seen.module, call.repeat_rows(len(rows), layer.n_heads))
        except (RuntimeError, ValueError, IndexError) as error:
            raise Problem("{name} cannot be run on token vectors alone: it reads more than them", name=name) from error
    if not reader.layers:
        raise Problem("{name} calls no attention that can be read", name=name)
    return reader.layers[0]


def _run_call(model_pass: ModelPass, reader: BlockListener, module: nn.Module, call: BlockCall) -> None:
    with model_pass.ready(), model_pass.listen(reader), suppress(StopRun):
        module(*call.args, **call.kwargs)


def _find_norm_before(hidden: Tensor, calls: dict[str, _ModuleCall], block: str) -> tuple[Tensor, bool]:
    """Gain (M,) of the norm in front of a block's attention, and whether it subtracts the mean."""
    for name, seen in calls.items():
        answered = seen.output
        if is_within(name, block) and is_hidden(answered) and torch.equal(answered, hidden):
            norm = freeze_norm(name, seen.module, seen.hidden, answered)
            if norm is not None and norm.gain is not None:
                return norm.gain, norm.centres
    return torch.ones_like(to_float32(hidden[0, 0])), False
