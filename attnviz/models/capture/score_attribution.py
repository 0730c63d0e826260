"""One attention score taken apart: which part of the query met which part of the key, and what a cut does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import Tensor

from attnviz.base.extras import load_figures, pandas
from attnviz.base.message import MessageList, Problem, require_one_of, require_whole
from attnviz.models.capture.head_selection import resolve_heads, resolve_index, to_float32
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.stream_parts import ENCODER, HeadParts, ModelPass, Parts, StreamParts

if TYPE_CHECKING:
    import pandas as pd

Against = Literal["competitors", "mean"] | int | None
Side = Literal["query", "key"]
OTHERS = "others"


class Cut(NamedTuple):
    """The weight of a key with one path cut: this part left out of what a head's keys, or its query, are made of."""

    part: str
    side: Side
    weight_before: float
    weight: float  #: with the path cut, and the norms that read the stream computed again: exact
    log_odds_before: float
    log_odds: float  #: of that weight
    estimate: float  #: the log-odds that the table foretells, with norms and the rivals' shares held
    total: float | None  #: the weight with the part switched off (ablated) in the whole model; None: no head or MLP
    row_before: Tensor  #: (K,): the query's weights
    row: Tensor  #: (K,): the same with the path cut

    def __repr__(self) -> str:
        total = "" if self.total is None else f", {self.total:.3f} ablated in the model"
        return f"<Cut of {self.part} from the {self.side}: weight {self.weight_before:.3f} to {self.weight:.3f}{total}>"


class _Pair(NamedTuple):
    """A query and a key, and what the key's score is measured against."""

    query: int
    key: int
    shares: Tensor  #: (K,): 1 at the key, less the share of each key in what stands against it
    score: float
    baseline: float
    position: float
    sink: float
    capped: float
    entropy: float
    weight: float
    log_odds: float


class _RowScores(NamedTuple):
    """Scores of one query, (K,) in float64."""

    raw: Tensor  #: with scale and position bias
    final: Tensor  #: after a soft-cap, -inf where a key is hidden
    bias: Tensor
    sink: Tensor  #: (): -inf where the head has none

    @property
    def weights(self) -> Tensor:
        """(K,)"""
        return torch.cat([self.final, self.sink[None]]).softmax(0)[:-1].nan_to_num(0.0)

    def rivals(self, key: int) -> Tensor:
        """Scores (K + 1,) of all that the key shares its weight with; -inf at the key itself, the sink last."""
        others = torch.cat([self.final, self.sink[None]])
        others[key] = -torch.inf
        return others

    def log_odds(self, key: int) -> float:
        return float(self.final[key] - self.rivals(key).logsumexp(0))


@dataclass(frozen=True, eq=False)
class ScoreSource:
    """What a score is taken apart with: the pass, its layers, and the head."""

    model_pass: ModelPass
    layers: tuple[RecordedLayer, ...]
    layer: RecordedLayer
    head: int

    def _stack(self, layer: RecordedLayer, row: int) -> StreamParts:
        return self.model_pass.stream_parts(self.layers, layer.tower, row)

    def _encoder(self, row: int) -> tuple[StreamParts | None, Parts | None]:
        """Stack and parts that a cross-attention layer reads its keys from; None and None for self-attention."""
        if self.layer.kind == "self":
            return None, None
        first = next((layer for layer in self.layers if layer.stack == "encoder"), None)
        hidden = self._stack(self.layer, row).block_call(self.layer).hidden()
        if first is None or len(hidden) < 2:
            raise Problem("{name} reads its keys from outside of this model's layers", name=self.layer.name)
        stack = self._stack(first, row)
        return stack, stack.at_end(hidden[1])

    def _writing_stack(self, part: str, row: int) -> tuple[StreamParts, str]:
        """Stack that a part comes from, and the part's name there."""
        encoder = self._encoder(row)[0] if part.startswith(ENCODER) else None
        return (self._stack(self.layer, row), part) if encoder is None else (encoder, part.removeprefix(ENCODER))

    def head_parts(self, row: int) -> HeadParts:
        """Queries and keys of the head by parts."""
        return self._stack(self.layer, row).read_head(self.layer, self.head, self._encoder(row)[1])

    def scores(self, row: int, query: int, q: Tensor | None = None, k: Tensor | None = None) -> _RowScores:
        """Scores of one query under the model's mask, of its own q (D,) and k (K, D) or of these."""
        layer, head = self.layer, self.head
        own_q, own_k, _ = layer.qkv
        q = _entry(own_q, row, head, query) if q is None else q
        k = _entry(own_k, row, head * layer.n_kv_heads // layer.n_heads) if k is None else k
        products = k.double() @ q.double() * layer.scale_of(head)
        bias = torch.zeros_like(products) if layer.bias is None else _entry(layer.bias, row, head, query).double()
        raw = products + bias
        capped = raw if layer.softcap is None else layer.softcap * (raw / layer.softcap).tanh()
        final = capped.masked_fill(~_entry(layer.mask, row, head, query), -torch.inf)
        sink = raw.new_tensor(-torch.inf) if layer.sinks is None else layer.sinks[head].double()
        return _RowScores(raw, final, bias.expand_as(raw), sink)

    def compare(self, row: int, query: int, key: int, against: Against) -> _Pair:
        """The score of a key against that of its rivals, of the mean key, of another key or of nothing."""
        scores = self.scores(row, query)
        visible = scores.final > -torch.inf
        if not bool(visible[key]):
            raise Problem("query {query} cannot see key {key}: the mask hides it", query=query, key=key)
        rivals = scores.rivals(key)
        shares = rivals.softmax(0).nan_to_num(0.0)
        entropy = float(torch.special.entr(shares).sum())
        others = visible.clone()
        others[key] = False
        if against is None:
            against_shares = torch.zeros_like(shares)
        elif not bool(others.any()) and (scores.sink == -torch.inf or against != "competitors"):
            raise Problem(
                "query {query} sees one key only: there is nothing to compare it with; give against=None", query=query
            )
        elif isinstance(against, str) and against in ("competitors", "mean"):
            mean = torch.cat([others.double() / others.sum(), shares[-1:] * 0])
            against_shares = shares if against == "competitors" else mean
        elif isinstance(against, str):
            raise Problem(
                'against={against} must be "competitors", "mean", the position of a key, or None', against=repr(against)
            )
        else:
            other = resolve_index("against", against, len(visible))
            if not bool(visible[other]):
                raise Problem("query {query} cannot see key {key}: the mask hides it", query=query, key=other)
            against_shares = torch.zeros_like(shares)
            against_shares[other] = 1.0
        sink = float(against_shares[-1] * scores.sink) if float(against_shares[-1]) else 0.0
        signed = -against_shares[:-1]
        signed[key] += 1.0
        seen = scores.raw.masked_fill(~visible, 0.0)
        final = scores.final.masked_fill(~visible, 0.0)
        difference = float(signed @ seen)
        return _Pair(
            query,
            key,
            signed.to(torch.float32),
            float(seen[key]),
            float(seen[key]) - difference + sink,
            float(signed @ scores.bias),
            -sink,
            float(signed @ final) - difference,
            entropy,
            float(scores.weights[key]),
            scores.log_odds(key),
        )

    def source_shares(self, part: str, side: Side, row: int, pairs: Sequence[_Pair]) -> Tensor:
        """Share (T,) of each source token in what a head's part of the key or query adds to the mean score."""
        stack, encoder = self._stack(self.layer, row), self._encoder(row)[0]
        sending, name = self._writing_stack(part, row)
        sender = sending.sender(name)
        if sender is None or sender.set_output is not None:
            raise Problem("{part} is no head: it comes from no other token", part=repr(part))
        head, parts = int(name.rpartition(".")[2]), self.head_parts(row)
        weights = sender.weights(head)[row, 0]  # (T, T)
        if encoder is not None and (sending is encoder) != (side == "key"):
            return torch.zeros_like(weights[0])  # queries are of the decoder, keys of the encoder
        if encoder is not None and sending is encoder:
            basis = stack.read_encoder_rows(self.layer, self.head, encoder.follow_to_end(sender, name))
        else:
            rows, written = stack.follow_head(sender, name, stack.number_of(self.layer))
            basis = stack.read_rows(self.layer, self.head, rows, written)[0 if side == "query" else 1]  # (Dv, T, D)
        values = to_float32(_entry(sender.qkv[2], row, head * sender.n_kv_heads // sender.n_heads))  # (T, Dv)
        shares = []
        for pair in pairs:
            if side == "query":
                slope = basis[:, pair.query] @ torch.einsum("k,kd->d", pair.shares, parts.k.sum(0))
                shares.append(weights[pair.query] * (values @ slope))
            else:
                slopes = torch.einsum("k,vkd,d->kv", pair.shares, basis, parts.q[:, pair.query].sum(0))
                shares.append(torch.einsum("kt,kv,tv->t", weights, slopes, values))
        return torch.stack(shares).mean(0) * self.layer.scale_of(self.head)

    def scores_without(self, part: str, side: Side, row: int, pairs: Sequence[_Pair]) -> list[_RowScores]:
        """Scores of each pair's query with one part left out of the stream that keys or queries are made from."""
        q, k = self._stack(self.layer, row).without(self.layer, self.head, part, self._encoder(row)[1])
        return [
            self.scores(row, pair.query, k=k) if side == "key" else self.scores(row, pair.query, q[pair.query])
            for pair in pairs
        ]

    def ablated_weight(self, part: str, row: int, pairs: Sequence[_Pair]) -> float | None:
        """Mean weight of the pairs with a head or another module ablated in the model; None for any other part."""
        stack, name = self._writing_stack(part, row)
        if name not in stack.writers or self.model_pass.rerun is None:
            return None
        sender = stack.sender(name)
        head = None if sender is None else int(name.rpartition(".")[2])
        with stack.silence_modules(() if sender is not None else stack.writers[name][0]):
            changed = self.model_pass.rerun(None if sender is None else sender.name, head)
        layer = next(layer for layer in changed if layer.place == self.layer.place)
        weights = layer.weights(self.head)[row, 0]
        return _mean([float(weights[pair.query, pair.key]) for pair in pairs])


def _entry(tensor: Tensor, *index: int) -> Tensor:
    """Entry of a tensor at leading indices; an axis of length 1, or one that is missing, serves all of them."""
    missing = 4 - tensor.dim()
    for number in index[missing:] if missing > 0 else index:
        tensor = tensor[number if len(tensor) > 1 else 0]
    return tensor


@dataclass(frozen=True, eq=False, repr=False)
class ScoreAttribution:
    """Products of query parts and key parts that add up to a score, less the score of what it is measured against.

    `table` adds up, with `position` and `sink`, to `score` - `baseline`. Against competitors, that difference with
    `capped`, less `entropy`, is the log-odds of the weight. A part says which component wrote it, not what it means;
    what depends on it is measured by `cut`.
    """

    parts: tuple[str, ...]  #: "bias", "token", "position", heads such as "0.0" and MLPs such as "mlp 17"
    table: Tensor  #: (B, P, P): parts of the query by parts of the key, before a soft-cap
    score: Tensor  #: (B,): the score of the key, with the model's scale and position bias
    baseline: Tensor  #: (B,): the score of what it is measured against
    position: Tensor  #: (B,): of a position bias (ALiBi, T5), which no part carries
    sink: Tensor  #: (B,): of a learned sink, a rival without a key
    capped: Tensor  #: (B,): what a soft-cap adds to the difference
    entropy: Tensor  #: (B,): of the other keys' weights, scaled to 1
    weight: Tensor  #: (B,)
    log_odds: Tensor  #: (B,): log(weight / (1 - weight))
    against: Against
    source: ScoreSource
    pairs: tuple[tuple[_Pair, ...], ...]  #: (query, key) and what each is measured against, of each row

    @property
    def by_query(self) -> Tensor:
        """Sum over the key's parts, (B, P)."""
        return self.table.sum(2)

    @property
    def by_key(self) -> Tensor:
        """Sum over the query's parts, (B, P)."""
        return self.table.sum(1)

    def __repr__(self) -> str:
        layer, head = self.source.layers.index(self.source.layer), self.source.head
        best = ", ".join(f"{query} x {key} {value:+.2f}" for query, key, value in self.top(3))
        score, baseline = float(self.score[0]), float(self.baseline[0])
        return f"<ScoreAttribution of head {layer}.{head}: {score:.2f} against {baseline:.2f}; {best}, ...>"

    def top(self, n: int = 5, row: int = 0) -> list[tuple[str, str, float]]:
        """The n largest products, up or down, as (query part, key part, product)."""
        require_whole("n", n)
        resolve_index("row", row, len(self.table))
        flat, count = self.table[row].flatten(), len(self.parts)
        order = flat.abs().argsort(descending=True)[:n].tolist()
        return [(self.parts[cell // count], self.parts[cell % count], float(flat[cell])) for cell in order]

    def compact(self, n: int = 5, row: int = 0) -> tuple[list[str], list[str], Tensor]:
        """Table of the n largest query parts and key parts; the last of each are all others, so the sum stays."""
        table, names = self.table[row], []
        for axis in (0, 1):
            order = self.table[row].sum(1 - axis).abs().argsort(descending=True)
            others = table.index_select(axis, order[n:]).sum(axis, keepdim=True)
            table = torch.cat([table.index_select(axis, order[:n]), others], axis)
            names.append([*(self.parts[index] for index in order[:n].tolist()), OTHERS])
        return names[0], names[1], table

    def to_dataframe(self) -> pd.DataFrame:
        """One row for each product: batch, query_part, key_part and value. Needs pandas."""
        batch, query, key = torch.meshgrid(*map(torch.arange, self.table.shape), indexing="ij")
        return pandas().DataFrame(
            {
                "batch": batch.flatten().numpy(),
                "query_part": [self.parts[index] for index in query.flatten().tolist()],
                "key_part": [self.parts[index] for index in key.flatten().tolist()],
                "value": self.table.flatten().cpu().numpy(),
            }
        )

    def plot(self, n: int = 5, row: int = 0) -> Any:
        """A Plotly figure: the table of the n largest parts and all others, with its margins as bars."""
        queries, keys, table = self.compact(n, row)
        return load_figures("score_table").score_table(queries, keys, table.cpu().numpy())

    def by_key_source(self, part: str) -> Tensor:
        """Share of each source token in a head's part of the key, (B, T); they add up to its entry of `by_key`."""
        return self._by_source(part, "key")

    def by_query_source(self, part: str) -> Tensor:
        """Share of each source token in a head's part of the query, (B, T); they add up to its entry of `by_query`."""
        return self._by_source(part, "query")

    def _by_source(self, part: str, side: Side) -> Tensor:
        self._require_part(part)
        with self.source.model_pass.ready():
            shares = [self.source.source_shares(part, side, row, pairs) for row, pairs in enumerate(self.pairs)]
        return torch.stack(shares)

    def cut(self, part: str, side: Side = "key", row: int = 0) -> Cut:
        """The weight with one path cut: `part` left out of what the head's keys, or its query, are made of.

        It is exact: norms that read the stream are computed again, and so are the weights of all keys. The estimate
        holds both, and may be far off: for a head of SmolLM2 the two changes of the log-odds correlate by 0.93 over all
        parts of the key. `total` is the weight when the part is switched off in the whole model, by all paths.
        """
        self._require_part(part)
        require_one_of("side", side, ("query", "key"))
        pairs, source, index = self.pairs[row], self.source, self.parts.index(part)
        with source.model_pass.ready():
            cut_scores = source.scores_without(part, side, row, pairs)
        before = [source.scores(row, pair.query) for pair in pairs]
        change = float((self.by_key if side == "key" else self.by_query)[row, index])
        own = float(self.log_odds[row])
        return Cut(
            part,
            side,
            float(self.weight[row]),
            _mean([float(scores.weights[pair.key]) for scores, pair in zip(cut_scores, pairs, strict=True)]),
            own,
            _mean([scores.log_odds(pair.key) for scores, pair in zip(cut_scores, pairs, strict=True)]),
            own - change,
            source.ablated_weight(part, row, pairs),
            before[0].weights,
            cut_scores[0].weights,
        )

    def _require_part(self, part: str) -> None:
        if part not in self.parts:
            near = get_close_matches(str(part), self.parts, 3, 0.0)
            raise Problem(
                "{part} is no part of this score; close are {names}", part=repr(part), names=MessageList(near)
            )


def attribute_score(
    layers: tuple[RecordedLayer, ...],
    model_pass: ModelPass | None,
    layer: RecordedLayer,
    head: int,
    pairs: Sequence[tuple[int, int]],
    against: Against,
) -> ScoreAttribution:
    """Take the mean score of some (query, key) pairs of a head apart, in each row of the batch."""
    if not layer.exact or layer.set_weights is not None:
        raise Problem("layer {index} gives its weights only; its scores cannot be taken apart", index=layer.index)
    if model_pass is None:
        raise Problem(
            "a score is taken apart with the model itself: it needs a capture with residual=True of a model of "
            "transformers, and not a trace from a file"
        )
    (head,) = resolve_heads(head, layer.n_heads, layer.index)
    source = ScoreSource(model_pass, layers, layer, head)
    batch, _, q_len, k_len = layer.shape
    if layer.kind == "self" and q_len != k_len:
        raise Problem("a score is taken apart in one pass over the whole text, without a cache")
    resolved = [(resolve_index("query", query, q_len), resolve_index("key", key, k_len)) for query, key in pairs]
    with model_pass.ready():
        rows = [source.head_parts(row) for row in range(batch)]
    names = list(dict.fromkeys(name for parts in rows for name in parts.names))
    every = [tuple(source.compare(row, query, key, against) for query, key in resolved) for row in range(batch)]
    tables = [_table(parts, every[row], names) * layer.scale_of(head) for row, parts in enumerate(rows)]
    means = {
        name: torch.tensor([_mean([getattr(pair, name) for pair in pairs]) for pairs in every])
        for name in ("score", "baseline", "position", "sink", "capped", "entropy", "weight", "log_odds")
    }
    return ScoreAttribution(
        tuple(names), torch.stack(tables), **means, against=against, source=source, pairs=tuple(every)
    )


def _table(parts: HeadParts, pairs: Sequence[_Pair], names: Sequence[str]) -> Tensor:
    """Mean products (P, P) of query parts and key parts, without the scale, for all `names`."""
    products = [parts.q[:, pair.query] @ torch.einsum("k,pkd->pd", pair.shares, parts.k).mT for pair in pairs]
    at = torch.tensor([names.index(name) for name in parts.names], device=parts.q.device)
    table = parts.q.new_zeros(len(names), len(names))
    table[at[:, None], at] = torch.stack(products).mean(0)
    return table


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
