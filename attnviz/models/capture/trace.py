"""Trace: the recording of one forward pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import torch
from torch import Tensor

from attnviz.base.extras import pandas
from attnviz.base.message import Message, MessageList, Problem, require_one_of, require_whole
from attnviz.core import measures
from attnviz.models.capture.bands import (
    AttentionRow,
    HeadProfiles,
    PooledWeights,
    pool_layer,
    profile_layers,
    require_room,
    row_weights,
)
from attnviz.models.capture.head_measures import HeadMeasure, largest_scores
from attnviz.models.capture.head_selection import resolve_index, to_float32
from attnviz.models.capture.logit_attribution import LogitAttribution, LogitLens, attribute_logit, logit_lens
from attnviz.models.capture.metric import (
    Metric,
    TokenLike,
    accept_old_words,
    as_logit_sum,
    expand_ids,
    row_ids,
)
from attnviz.models.capture.recorded_layer import AttentionKind, RecordedLayer, StackName
from attnviz.models.capture.residual import Residual, vectors_at
from attnviz.models.capture.score_attribution import Against, ScoreAttribution, attribute_score
from attnviz.models.capture.stream_parts import ModelPass
from attnviz.models.capture.trace_file import (
    read_trace_file,
    summarise_layers,
    trace_from_bytes,
    trace_to_bytes,
    write_trace_file,
)
from attnviz.models.tokens.units import Unit, UnitName, split_units

if TYPE_CHECKING:
    import pandas as pd
    import xarray


#: fields of a layer that are the model's own, or that an edit has put there
NOT_COUNTED = ("sinks", "set_weights", "set_output")


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The attention layers of one pass in execution order, and the model's logits; the residual stream on request.

    >>> trace[5]                                  # the sixth layer that ran
    >>> trace["model.layers.5.self_attn"]         # the same by its module's name
    >>> trace.layer(0, stack="decoder", kind="cross")
    """

    layers: tuple[RecordedLayer, ...]
    logits: Tensor | None = None  #: "last": (B, V); "all": (B, Q, V)
    inputs: dict[str, Tensor] = field(default_factory=dict)  #: token ids and padding masks given to the pass
    residual: Residual | None = None  #: of a capture with `residual`
    last: Tensor | None = None  #: of such a capture: the position of each row's last real token, (B,)
    tokens: tuple[Any, ...] = ()  #: labels of a sentence's tokens, or a tuple of each sentence's, where they are known
    tokenizer: Any = None  #: of what `load` gives; it is not saved
    model_pass: ModelPass | None = (
        None  #: of a capture with `residual`: the model and its blocks' calls; it is not saved
    )

    def __repr__(self) -> str:
        return summarise_layers(
            self.layers,
            {"logits": self.logits} | self.inputs,
            len(self.residual or ()),
            self.nbytes,
            str(self.layers[0].device) if self.layers else "cpu",
        )

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[RecordedLayer]:
        return iter(self.layers)

    @overload
    def __getitem__(self, key: int | str) -> RecordedLayer: ...

    @overload
    def __getitem__(self, key: slice) -> tuple[RecordedLayer, ...]: ...

    def __getitem__(self, key: int | str | slice) -> RecordedLayer | tuple[RecordedLayer, ...]:
        """Layer by its index in execution order, from the end if negative, or by its module's dotted name.

        A slice, such as `trace[2:5]`, gives several as a tuple.
        """
        if isinstance(key, str):
            return self._layer_by_name(key)
        if not isinstance(key, slice) and not -len(self.layers) <= key < len(self.layers):
            raise IndexError(f"layer {key} is not in this trace, which has {len(self.layers)}")
        return self.layers[key]

    def _layer_by_name(self, name: str) -> RecordedLayer:
        named = [layer for layer in self.layers if layer.name == name]
        if len(named) == 1:
            return named[0]
        if named:
            raise KeyError(f"{name} ran {len(named)} times in this pass; give the number of the layer instead")
        some = ", ".join(layer.name for layer in self.layers[:3])
        raise KeyError(
            f"no layer of this trace is called {name}; it has {some}{', ...' if len(self.layers) > 3 else ''}"
        )

    def layer(
        self, index: int, stack: StackName | None = None, kind: AttentionKind | None = None, run: int = 0
    ) -> RecordedLayer:
        """Layer with this `index` among those of one stack and kind, which may be left out where there is one.

        A negative `index` counts from the last.
        """
        among = [
            layer
            for layer in self.layers
            if layer.run == run and stack in (None, layer.stack) and kind in (None, layer.kind)
        ]
        lists = {(layer.tower, layer.stack, layer.kind) for layer in among}
        if len(lists) > 1:
            raise Problem(
                "this trace has several lists of layers: {lists}; say stack= and kind=",
                lists=MessageList(sorted(f"{stack} {kind} ({tower})" for tower, stack, kind in lists)),
            )
        for layer in among:
            if index in (layer.index, layer.index - len(among)):
                return layer
        raise Problem("there is no layer {index} here; there are {count}", index=index, count=len(among))

    def to(self, device: torch.device | str) -> Trace:
        """The same trace on another device."""
        layers, others, extra = self._to_parts()
        return Trace._from_parts(
            tuple(layer.each(lambda tensor: tensor.to(device)) for layer in layers),
            {name: value.to(device) for name, value in others.items()},
            extra,
        )

    def save(self, path: Path | str) -> None:
        """Write the trace as one safetensors file, which later versions open too.

        After a capture with `residual` it includes all that `logit_attribution` needs, the unembedding too.
        """
        write_trace_file(path, *self._to_parts())

    def to_bytes(self) -> bytes:
        """The trace as the bytes of the file that `save` writes."""
        return trace_to_bytes(*self._to_parts())

    def _to_parts(self) -> tuple[tuple[RecordedLayer, ...], dict[str, Tensor], dict[str, Any]]:
        others = {f"inputs.{name}": value for name, value in self.inputs.items()}
        if self.logits is not None:
            others["logits"] = self.logits
        extra: dict[str, Any] = {"tokens": self.tokens} if self.tokens else {}
        if self.residual is not None and self.last is not None:
            others |= self.residual.tensors() | {"last": self.last}
            extra["residual"] = self.residual.to_json()
        return self.layers, others, extra

    @staticmethod
    def load(path: Path | str) -> Trace:
        """Read a saved trace, on the CPU; raises a Problem if the file is missing, damaged, or no saved trace."""
        return Trace._from_parts(*read_trace_file(path))

    @staticmethod
    def from_bytes(sent: bytes) -> Trace:
        """Read a trace from the bytes of `to_bytes`, on the CPU."""
        return Trace._from_parts(*trace_from_bytes(sent))

    @staticmethod
    def _from_parts(layers: tuple[RecordedLayer, ...], others: dict[str, Tensor], extra: dict[str, Any]) -> Trace:
        inputs = {name.removeprefix("inputs."): value for name, value in others.items() if name.startswith("inputs.")}
        labels = tuple(label if isinstance(label, str) else tuple(label) for label in extra.get("tokens", ()))
        residual = Residual.from_json(extra["residual"], others) if "residual" in extra else None
        return Trace(layers, others.get("logits"), inputs, residual, others.get("last"), labels)

    @accept_old_words("versus", "position", "tokenizer")
    def logit_attribution(
        self, metric: Metric, *, position: int | None = None, tokenizer: Any = None
    ) -> LogitAttribution:
        """Terms of each head, MLP, embedding and bias in the logit of a token, or in `logit_diff(token, versus)`.

        They are taken at `position`, by default the last real one, and add up to the logit.

        A token is an id or its text, which needs a trace of what `load` gives or a `tokenizer`; a list has one for
        each row; of a set the mean logit counts.
        The scales of the final norm and of other norms on the path are frozen at their values in this pass:
        `linearised` says which. Needs a capture with `residual`.
        """
        residual, at = self._residual_at(position)
        logits = as_logit_sum(metric, tokenizer or self.tokenizer)
        return attribute_logit(self.layers, residual, self._logits_at(at), logits, at)

    def logit_lens(
        self,
        tokens: TokenLike | Sequence[int | str] = (),
        position: int | None = None,
        n: int = 5,
        tokenizer: Any = None,
    ) -> LogitLens:
        """Logit lens: final norm and unembedding applied to the stream at each block's input and at its end.

        It gives logit, probability and rank of each of these tokens, and the `n` most likely ones.

        Tokens are given as in `logit_attribution`, one or several for all rows. Needs a capture with `residual`.
        """
        residual, at = self._residual_at(position)
        require_whole("n", n, 0)
        several = tokens if isinstance(tokens, Sequence) and not isinstance(tokens, str) else (tokens,)
        count = len(residual.require_path(through_blocks=False).unembedding)
        ids = [expand_ids(row_ids(tokenizer or self.tokenizer, choice), len(at), count) for choice in several]
        chosen = torch.cat(ids, 1).to(at.device) if ids else at.new_zeros(len(at), 0)
        return logit_lens(residual, chosen, at, n, tokenizer or self.tokenizer)

    def score_attribution(
        self,
        layer: int | str,
        head: int,
        query: int | None = None,
        key: int | None = None,
        against: Against = "competitors",
        pairs: Sequence[tuple[int, int]] | None = None,
    ) -> ScoreAttribution:
        """Take the score of a query and a key apart: products of what wrote the query and what wrote the key.

        Parts are "token", "position", "bias", every earlier head ("0.0"), MLP ("mlp 17") or mixer. The score is
        measured `against` its "competitors", whose weights the softmax compares it with, the "mean" key, another key's
        position, or None. `pairs` are several (query, key), of which the means are given.

        The scale of every norm is held at what it was, so the parts add up exactly. They say which component wrote
        what, not what it means; `cut` measures what depends on it. Needs a capture with `residual` of a model of
        transformers.
        """
        several: Sequence[Any] = [(query, key)] if pairs is None else pairs
        sizes = {len(pair) if isinstance(pair, Sequence) else 0 for pair in several}
        if {query is None, key is None} != {pairs is not None} or sizes != {2}:
            raise Problem("give query= and key=, or several as pairs=[(query, key), ...]")
        return attribute_score(self.layers, self.model_pass, self[layer], head, several, against)

    def _residual_at(self, position: int | None) -> tuple[Residual, Tensor]:
        """The residual stream, and the requested position in each row (B,)."""
        if self.residual is None or self.last is None:
            raise Problem("this trace has no residual stream: capture with residual=True")
        if position is None:
            return self.residual, self.last
        return self.residual, torch.full_like(self.last, resolve_index("position", position, self.residual[0].shape[1]))

    def _logits_at(self, at: Tensor) -> Tensor | None:
        """The model's logits (B, V) at a position of each row; None if they were not recorded or are soft-capped."""
        path = None if self.residual is None else self.residual.path
        if self.logits is None or path is None or path.softcap is not None:
            return None
        same = self.last is not None and torch.equal(at, self.last)
        return vectors_at(self.logits, at[:, None])[:, 0] if self.logits.dim() == 3 else self.logits if same else None

    def rollout(self, stack: StackName | None = None, residual: float = 0.5, heads: measures.Heads = "mean") -> Tensor:
        """Attention rollout: the share of each input token in each position after every layer, (L, B, T, T).

        Rows sum to 1 (Abnar & Zuidema 2020). Each layer's heads are joined by `heads`, and `residual` is the share that
        skips the layer. It shows paths of attention, not causes. `stack` is
        needed where encoder and decoder both have layers.
        """
        among = self._self_attention(stack)
        return measures.rollout(
            torch.stack([measures.join_heads(layer.weights().detach(), heads) for layer in among]), residual
        )

    def row(self, query: int = -1, sentence: int = 0, stack: StackName | None = None) -> AttentionRow:
        """Weights of one query in every head, (L, H, K): no other row is computed. `top` names the largest.

        >>> trace.row(-1).top(3)                      # what the last token reads: (layer, head, key, weight)
        """
        among = self._self_attention(stack)
        b, _, length, _ = among[0].shape
        query, sentence = resolve_index("query", query, length), resolve_index("sentence", sentence, b)
        labels = self.tokens if not self.tokens or isinstance(self.tokens[0], str) else self.tokens[sentence]
        return AttentionRow(row_weights(among, query, sentence), tuple(labels), query)

    def pooled(
        self,
        units: UnitName | Sequence[tuple[int, int]] = "sentence",
        how: Literal["mean", "max"] = "mean",
        stack: StackName | None = None,
        tokenizer: Any = None,
    ) -> PooledWeights:
        """Weights between units of the text, (L, B, H, U, U), in chunks: no matrix of all tokens is built.

        They are summed over the keys of a unit; of its queries `how` takes the mean or the largest. `units` is "word",
        "sentence", "paragraph" or "turn" (of a chat), which needs a trace of what `load` gives or a `tokenizer`, and
        one sentence in the batch; or spans of tokens (start, stop). At most 2 GB are built.
        """
        require_one_of("how", how, ("mean", "max"))
        among = self._self_attention(stack)
        spans = self.split_units(units, tokenizer, stack)
        require_room(among, len(spans))
        return PooledWeights(torch.stack([pool_layer(layer, spans, how) for layer in among]), spans, how)

    def receiver_heads(
        self,
        units: UnitName | Sequence[tuple[int, int]] = "sentence",
        ignore: int = 4,
        stack: StackName | None = None,
        tokenizer: Any = None,
    ) -> HeadMeasure:
        """How much each head singles out few sentences (Thought Anchors, 2025): the kurtosis of what sentences get.

        That is what a token of each unit gets on average from the units at least `ignore` later, as
        `pooled(...).received()` gives it. `units` as in `pooled`. NaN where a text has too few.
        """
        received = self.pooled(units, "mean", stack, tokenizer).received(ignore)
        return self._measure("kurtosis", measures.kurtosis(received), stack)

    def profiles(self, stack: StackName | None = None) -> HeadProfiles:
        """Entropy, weight on the first token and weight by distance of every head, in one pass over the weights."""
        return profile_layers(self._self_attention(stack))

    def entropy(self, stack: StackName | None = None) -> HeadMeasure:
        """Entropy of every head's rows in nats, their mean over real tokens; computed some rows at a time."""
        return self._measure("entropy", self.profiles(stack).entropy, stack)

    def sink_mass(self, stack: StackName | None = None) -> HeadMeasure:
        """Weight on the first real token in every head, the mean over real tokens, from 0 to 1."""
        return self._measure("sink_mass", self.profiles(stack).sink_mass, stack)

    def max_logits(self, stack: StackName | None = None) -> HeadMeasure:
        """The largest score that every head's softmax is given, over all real tokens."""
        return self._measure("max_logits", largest_scores(self._self_attention(stack)), stack)

    def _measure(self, name: str, values: Tensor, stack: StackName | None) -> HeadMeasure:
        return HeadMeasure(name, values, tuple(layer.name for layer in self._self_attention(stack)))

    def split_units(
        self, units: UnitName | Sequence[tuple[int, int]], tokenizer: Any = None, stack: StackName | None = None
    ) -> tuple[Unit, ...]:
        """Units of the text by their name, or the spans given; a Problem for what is neither."""
        length, tokenizer = self._self_attention(stack)[0].shape[3], tokenizer or self.tokenizer
        if not isinstance(units, str):
            for start, stop in units:
                if not 0 <= start < stop <= length:
                    raise Problem(
                        "units: ({start}, {stop}) is no span of {length} tokens", start=start, stop=stop, length=length
                    )
            return tuple(Unit(f"{start}–{stop - 1}", start, stop) for start, stop in units)
        ids = self.inputs.get("input_ids")
        if tokenizer is None or ids is None or len(ids) != 1:
            raise Problem(
                "units={units} needs the trace of one text and its tokenizer: give tokenizer=, or spans (start, stop)",
                units=units,
            )
        return split_units(tokenizer, ids[0].tolist(), units)

    def _self_attention(self, stack: StackName | None) -> list[RecordedLayer]:
        """The self-attention layers of one list; a Problem where there are several, or none."""
        among = [layer for layer in self.layers if layer.kind == "self" and stack in (None, layer.stack)]
        lists = {(layer.tower, layer.stack) for layer in among}
        if len(lists) != 1:
            raise Problem(
                "this follows one list of self-attention layers, and there is: {lists}; say stack=",
                lists=MessageList(
                    sorted(f"{stack_name} ({tower})" for tower, stack_name in lists) or (Message("none"),)
                ),
            )
        return among

    def to_dataframe(self, layers: int | str | None = None, heads: int | None = None) -> pd.DataFrame:
        """One row for each weight: layer (in execution order), name, batch, head, query, key and weight.

        Leaving out `layers` or `heads` takes all of them: a long table. Needs pandas.
        """
        table = pandas()
        chosen = range(len(self.layers)) if layers is None else [self.layers.index(self[layers])]
        return table.concat([table.DataFrame(weight_rows(number, self.layers[number], heads)) for number in chosen])

    def to_xarray(self, layers: Sequence[int | str] | None = None) -> xarray.DataArray:
        """The weights (layer, batch, head, query, key) of layers of one shape, with names and tokens. Needs xarray."""
        chosen = range(len(self.layers)) if layers is None else [self.layers.index(self[key]) for key in layers]
        return weight_array(chosen, [self.layers[number] for number in chosen], self.tokens)

    def mean(self, aligned: Mapping[str, int | Sequence[int]] | None = None) -> Trace:
        """Mean weights over all prompts of the batch, as a trace with weights only.

        `aligned` maps the name of each token to average to its position in each prompt, or in all of them:
        `{"name": [1, 3], "end": -1}`. None: every position, of prompts of one length.
        """
        layers = tuple(mean_layer(layer, aligned) for layer in self.layers if aligned is None or layer.kind == "self")
        return Trace(layers, tokens=shared_labels(self.tokens) if aligned is None else tuple(aligned))

    @cached_property
    def nbytes(self) -> int:
        """Size of the trace in memory, in bytes. Shared storage counts once, the model's weights not at all."""
        writes = () if self.residual is None else self.residual.mlp_writes
        tensors = [*(self.residual or ()), *writes, *([] if self.logits is None else [self.logits])]
        for layer in self.layers:
            tensors += [tensor for name, tensor in layer.tensors().items() if name not in NOT_COUNTED]
        storages = (tensor.untyped_storage() for tensor in tensors)
        return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


# The weights of a trace as tables, as one labelled array, and as their mean over several prompts.
AXES = ("layer", "batch", "head", "query", "key")
MEAN = Message("these are mean weights over several prompts")
MEAN_FIELDS = ("stack", "kind", "index", "name", "tower", "run")  #: fields of a layer that its mean keeps


def weight_rows(number: int, layer: RecordedLayer, head: int | None) -> dict[str, object]:
    """Columns of a table with one row for each weight of a layer."""
    first = 0 if head is None else head % layer.n_heads
    weights = layer.weights(head).detach().float().cpu()  # (B, H', Q, K)
    batch, heads, queries, keys = torch.meshgrid(*(torch.arange(size) for size in weights.shape), indexing="ij")
    return {
        "layer": number,
        "name": layer.name,
        "batch": batch.flatten().numpy(),
        "head": (heads.flatten() + first).numpy(),
        "query": queries.flatten().numpy(),
        "key": keys.flatten().numpy(),
        "weight": weights.flatten().numpy(),
    }


def weight_array(numbers: Sequence[int], layers: Sequence[RecordedLayer], tokens: Sequence[Any]) -> xarray.DataArray:
    """Weights of these layers as one labelled array; raises a Problem if they differ in shape."""
    try:
        import xarray  # here because nothing else needs it
    except ModuleNotFoundError as missing:
        raise Problem("an array with names needs xarray, which is not installed: pip install xarray") from missing
    shapes = {layer.shape for layer in layers}
    if len(shapes) != 1:
        raise Problem("the layers have weights of different shapes: {shapes}", shapes=MessageList(sorted(shapes)))
    weights = torch.stack([layer.weights().detach().float().cpu() for layer in layers])
    named: dict[str, Any] = {"layer": list(numbers), "name": ("layer", [layer.name for layer in layers])}
    rows = [tokens] if tokens and isinstance(tokens[0], str) else tokens
    batch, _, *lengths = layers[0].shape
    for axis, length in zip(AXES[3:], lengths, strict=True):
        if len(rows) == batch and all(len(row) == length for row in rows):
            named[f"{axis}_token"] = (("batch", axis), [list(row) for row in rows])
    return xarray.DataArray(weights.numpy(), named, AXES, "weight")


def mean_layer(layer: RecordedLayer, aligned: Mapping[str, int | Sequence[int]] | None) -> RecordedLayer:
    """Layer with the mean weights (1, H, Q, K) of all rows, at every position or at the `aligned` ones."""
    weights = to_float32(layer.weights().detach())
    if aligned is None:
        if layer.padding is not None:
            raise Problem("the prompts differ in length: say what stands where in each, as aligned")
        mean = weights.mean(0, keepdim=True)
    else:
        rows = torch.arange(len(weights), device=weights.device)[:, None, None]
        places = _aligned_positions(aligned, len(weights), layer.shape[2]).to(weights.device)
        mean = weights[rows, :, places[:, :, None], places[:, None, :]].mean(0).permute(2, 0, 1)[None]
    layer_fields = {
        layer_field.name: getattr(layer, layer_field.name)
        for layer_field in fields(layer)
        if layer_field.name in MEAN_FIELDS
    }
    return RecordedLayer(**layer_fields, scale=float("nan"), reported=mean, why=MEAN)


def _aligned_positions(aligned: Mapping[str, int | Sequence[int]], rows: int, length: int) -> Tensor:
    """Position (B, P) in each row of each name in `aligned`."""
    columns = [[at] * rows if isinstance(at, int) else list(at) for at in aligned.values()]
    for name, column in zip(aligned, columns, strict=True):
        if len(column) != rows or not all(-length <= position < length for position in column):
            raise Problem(
                "aligned: {name} is at {places}; it must be at one of {length} positions in each of {rows} prompts",
                name=name,
                places=str(column),
                length=length,
                rows=rows,
            )
    return torch.tensor(columns).T


def shared_labels(tokens: Sequence[Any]) -> tuple[str, ...]:
    """Labels that all rows share, with … for the others."""
    if not tokens or isinstance(tokens[0], str):
        return tuple(tokens)
    return tuple(names[0] if len(set(names)) == 1 else "…" for names in zip(*tokens, strict=True))
