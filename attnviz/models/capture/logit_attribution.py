"""Direct logit attribution and the logit lens, from a recorded residual stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from attnviz.base.extras import load_figures, pandas
from attnviz.base.message import Message, Problem, require_whole
from attnviz.models.capture.head_selection import resolve_heads, resolve_index, to_float32
from attnviz.models.capture.metric import LogitSum
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.residual import Residual, project_onto, pull_back_direction, vectors_at
from attnviz.models.tokens.encoding import label_of

if TYPE_CHECKING:
    import pandas as pd


class LogitTerm(NamedTuple):
    """One term of a logit.

    `kind` is "head", "mlp", "bias" (of an output projection), "embedding", "positions" or "rest": a bias of the module
    `name`.
    """

    kind: str
    layer: int | None
    head: int | None
    name: str
    value: float


@dataclass(frozen=True, eq=False)
class HeadParts:
    """Terms (B, H) of a layer's heads, and what they are computed from.

    `layer` is cropped to the requested positions. `through` is the direction (B, H, Dv) on the head outputs; `at` is
    each row's position (B,) in the cropped layer.
    """

    added: Tensor
    layer: RecordedLayer
    through: Tensor
    at: Tensor


@dataclass(frozen=True, eq=False, repr=False)
class LogitAttribution:
    """Terms that add up to a logit, or to the difference of two logits."""

    heads: Tensor  #: (B, L, H); NaN where a layer has fewer heads
    biases: Tensor  #: (B, L): of the output projections' biases
    layers: tuple[str, ...]  #: the layers' dotted names; of an encoder-decoder, those of the decoder
    mlps: Tensor  #: (B, L): of a block with self- and cross-attention at the second; 0 at the first
    embedding: Tensor  #: (B,): of the token's own vector, or of all that a stream begins with that is no sum of vectors
    positions: Tensor | None  #: (B,): of the learned vector of its position; None where the model adds none
    rest: Mapping[str, Tensor]  #: (B,) each: of the biases of norms and of the unembedding, by the modules' names
    logit: Tensor  #: (B,): what the model itself answers, before a final soft-cap; NaN where only `total` is known
    softcap: float | None = None  #: of the model's logits; the parts add up to what stands before it
    linearised: Message | None = None  #: what is held at its value in this pass beyond the final norm's scale
    parts: tuple[HeadParts, ...] = ()  #: what `sources` reads

    @property
    def attention(self) -> Tensor:
        """Sum of the terms of all attention layers, (B,)."""
        return self.heads.nansum((1, 2)) + self.biases.sum(1)

    @property
    def total(self) -> Tensor:
        """Sum of all terms, (B,)."""
        others = [self.embedding, *self.rest.values(), *([] if self.positions is None else [self.positions])]
        return self.attention + self.mlps.sum(1) + torch.stack(others).sum(0)

    def __repr__(self) -> str:
        most = ", ".join(f"{layer}.{head} {value:+.2f}" for layer, head, value in self.top(3))
        return f"<LogitAttribution of {self.logit[0]:.2f}: heads {most}, ...>"

    def top(self, n: int = 5, row: int = 0) -> list[tuple[int, int, float]]:
        """The n heads with the largest terms, up or down, as (layer, head, term)."""
        require_whole("n", n)
        resolve_index("row", row, len(self.heads))
        flat = self.heads[row].flatten()
        order = flat.nan_to_num(0.0).abs().argsort(descending=True)[:n].tolist()
        width = self.heads.shape[2]
        return [(index // width, index % width, float(flat[index])) for index in order]

    def bars(self, row: int = 0) -> list[LogitTerm]:
        """All terms from the embedding to the last layer; they add up to the logit."""
        bars = [LogitTerm("embedding", None, None, "", float(self.embedding[row]))]
        if self.positions is not None:
            bars.append(LogitTerm("positions", None, None, "", float(self.positions[row])))
        for layer, name in enumerate(self.layers):
            heads = [entry for entry in enumerate(self.heads[row, layer].tolist()) if entry[1] == entry[1]]
            bars += [LogitTerm("head", layer, head, name, value) for head, value in heads]
            bars.append(LogitTerm("bias", layer, None, name, float(self.biases[row, layer])))
            bars.append(LogitTerm("mlp", layer, None, name, float(self.mlps[row, layer])))
        return bars + [LogitTerm("rest", None, None, name, float(value[row])) for name, value in self.rest.items()]

    def sources(self, layer: int, head: int) -> Tensor:
        """Share of each source token in a head's term, (B, K); they add up to `heads[:, layer, head]`."""
        head_parts = self.parts[resolve_index("layer", layer, len(self.parts))]
        recorded, through, at = head_parts.layer, head_parts.through, head_parts.at
        (head,) = resolve_heads(head, recorded.n_heads, layer)
        if recorded.set_output is not None:
            raise Problem("the outputs of heads in layer {index} were replaced: no token carries them", index=layer)
        if head in recorded.silenced:
            return through.new_zeros(len(at), recorded.shape[3])
        weights = recorded.weights(head)[torch.arange(len(at), device=at.device), 0, at]  # (B, K)
        values = to_float32(recorded.qkv[2][:, head * recorded.n_kv_heads // recorded.n_heads])  # (B, K, Dv)
        return weights * (values * through[:, head, None]).sum(-1)

    def to_dataframe(self) -> pd.DataFrame:
        """Table of all terms of each row: batch, kind, layer, head, name and value. Needs pandas."""
        rows = [{"batch": row} | bar._asdict() for row in range(len(self.logit)) for bar in self.bars(row)]
        return pandas().DataFrame(rows)

    def plot(self) -> Any:
        """A Plotly figure: a map of the heads' terms, layers by heads; the mean over the batch."""
        return load_figures("library_charts").draw_head_map("logit", self.heads.nanmean(0).detach().cpu().numpy())


def attribute_logit(
    layers: tuple[RecordedLayer, ...],
    residual: Residual,
    logits: Tensor | None,
    metric: LogitSum,
    positions: Tensor,
) -> LogitAttribution:
    """Terms of a sum of logits at one position (B,) of each row; `logits` are the model's own there, if known."""
    path, at = residual.require_path(), positions[:, None]
    row, output_bias = path.direction(metric, len(positions))
    directions = residual.find_directions(row[:, None], at)
    inside = residual.layers_inside(layers)
    onto_heads = [directions.heads[number][layer.kind == "cross"][:, 0] for number, layer in inside]
    parts = [_head_parts(layer, way, positions) for (_, layer), way in zip(inside, onto_heads, strict=True)]
    biases = [
        torch.zeros_like(way[:, 0]) if layer.b_o is None else way @ to_float32(layer.b_o)
        for (_, layer), way in zip(inside, onto_heads, strict=True)
    ]
    stream_terms = [
        project_onto(way, stream, at)[:, 0] for way, stream in zip(directions.streams, residual.streams, strict=True)
    ]
    mlps = [torch.zeros_like(bias) for bias in biases]
    last_of = {number: n for n, (number, _) in enumerate(inside)}  # a decoder's block has two layers
    for number, n in last_of.items():
        mlps[n] += stream_terms[number + 1] - stream_terms[number] - directions.block_biases[number][:, 0]
        for m, (other, _) in enumerate(inside):
            if other == number:
                mlps[n] -= parts[m].added.sum(1) + biases[m]
    rest = {name: bias[:, 0] for name, bias in directions.biases.items()}
    embedding = _token_term(residual, stream_terms[0], directions.streams[0], at, rest)
    positions_part = rest.pop("positions", None)
    if path.bias is not None:
        rest[path.output] = output_bias
    if logits is None:
        logits = path.logits(vectors_at(residual[-1], at)[:, 0])
    widest = max(layer.n_heads for _, layer in inside)
    return LogitAttribution(
        torch.stack(
            [
                nn.functional.pad(head_parts.added, (0, widest - head_parts.added.shape[1]), value=nan)
                for head_parts in parts
            ],
            1,
        ),
        torch.stack(biases, 1),
        tuple(layer.name for _, layer in inside),
        torch.stack(mlps, 1),
        embedding,
        positions_part,
        rest,
        torch.full_like(embedding, nan) if logits is None else metric.evaluate(logits),
        path.softcap,
        residual.linearised,
        tuple(parts),
    )


def _head_parts(layer: RecordedLayer, direction: Tensor, positions: Tensor) -> HeadParts:
    """Term of each head along a direction (B, M) of the stream."""
    first, last = int(positions.min()), int(positions.max())
    rows, at = torch.arange(len(positions), device=direction.device), positions - first
    through = torch.einsum("bm,hmd->bhd", direction, layer.w_o_by_head)
    cut = layer.cropped(slice(first, last + 1), slice(None))
    return HeadParts((cut.head_outputs()[rows, :, at] * through).sum(-1), cut, through, at)


def _token_term(residual: Residual, start: Tensor, direction: Tensor, at: Tensor, rest: dict[str, Tensor]) -> Tensor:
    """Term (B,) of the token's own embedding in `start`; the other embeddings' terms go into `rest`."""
    biases: dict[str, Tensor] = {}
    direction, added = pull_back_direction(residual.maps.get("start"), direction, at, biases)
    total = start - added[:, 0]
    rest |= {name: bias[:, 0] for name, bias in biases.items()}
    for name, vectors in residual.embedded.items():
        rest[name] = project_onto(direction, vectors, at)[:, 0]
        total = total - rest[name]
    return total


@dataclass(frozen=True, eq=False, repr=False)
class LogitLens:
    """What the final norm and the unembedding make of the stream at the input of each block, and at its end.

    `ranks` count from 1, the most likely token. The last place is what the model itself answers.
    """

    tokens: Tensor  #: (B, n) ids asked for
    logits: Tensor  #: (B, L + 1, n)
    probabilities: Tensor  #: (B, L + 1, n)
    ranks: Tensor  #: (B, L + 1, n)
    top_tokens: Tensor  #: (B, L + 1, k) ids, most likely first
    top_probabilities: Tensor  #: (B, L + 1, k)
    tokenizer: Any = None  #: that names the tokens

    def __repr__(self) -> str:
        rows, depths, count = self.top_tokens.shape
        if not count:
            return f"<LogitLens of {rows} rows at {depths} depths>"
        last = zip(self.top_tokens[0, -1].tolist(), self.top_probabilities[0, -1].tolist(), strict=True)
        likely = ", ".join(f"{self._label(token)} {share:.0%}" for token, share in last)
        return f"<LogitLens of {rows} rows at {depths} depths: at the end of the first, tokens {likely[:300]}>"

    def _label(self, token: int) -> str:
        return str(token) if self.tokenizer is None else label_of(self.tokenizer, token)

    def to_dataframe(self) -> pd.DataFrame:
        """The most likely tokens, and those asked for: batch, depth, rank, token, label, probability. Needs pandas."""
        order = torch.arange(1, self.top_tokens.shape[2] + 1, device=self.ranks.device).expand_as(self.top_tokens)
        ranks, tokens = torch.cat([order, self.ranks], 2), self.tokens[:, None].expand_as(self.ranks)
        ids, shares = (
            torch.cat([self.top_tokens, tokens], 2),
            torch.cat([self.top_probabilities, self.probabilities], 2),
        )
        rows = [
            {"batch": row, "depth": depth, "rank": int(ranks[row, depth, n]), "token": token}
            | {"label": self._label(token), "probability": float(shares[row, depth, n])}
            for row, depths in enumerate(ids.tolist())
            for depth, entries in enumerate(depths)
            for n, token in enumerate(entries)
        ]
        return pandas().DataFrame(rows).drop_duplicates(["batch", "depth", "token"], ignore_index=True)

    def plot(self, row: int = 0) -> Any:
        """A Plotly figure: the probability of each token asked for over depth; without any, that of the most likely."""
        labels = [self._label(token) for token in self.tokens[row].tolist()] or [""]
        shares = self.probabilities[row] if len(self.tokens[row]) else self.top_probabilities[row, :, :1]
        return load_figures("library_charts").draw_over_depth(labels, shares.detach().cpu().numpy().T)


def logit_lens(residual: Residual, tokens: Tensor, positions: Tensor, n: int, tokenizer: Any) -> LogitLens:
    """Logit lens for tokens (B, n) at one position (B,) of each row: at each block's input and at the end."""
    path = residual.require_path(through_blocks=False)
    streams = torch.stack(
        [vectors_at(stream, positions[:, None])[:, 0] for stream in residual.streams], 1
    )  # (B, L + 1, M)
    logits = path.logits(streams)
    if logits is None:
        raise Problem(
            "the logit lens cannot be read here: the scale of a norm in the output head of this model is not known"
        )
    logits = path.apply_softcap(logits)  # (B, L + 1, V)
    chances, ids = logits.softmax(-1), tokens[:, None].expand(-1, logits.shape[1], -1)
    token_logits, best = logits.gather(-1, ids), chances.topk(min(n, logits.shape[-1]))
    ranks = torch.empty_like(ids)
    for column, logit in enumerate(token_logits.unbind(-1)):  # one at a time: all would take n times the vocabulary
        ranks[..., column] = (logits > logit[..., None]).sum(-1) + 1
    return LogitLens(tokens, token_logits, chances.gather(-1, ids), ranks, best.indices, best.values, tokenizer)
