"""Weights of long texts: some rows of some heads at a time, and what is summed up over them.

A matrix of all heads of 8,192 tokens takes 72 GB; here a band of rows is computed, reduced and dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attnviz.base.message import Problem, require_one_of, require_whole
from attnviz.base.units import decimal
from attnviz.core import measures
from attnviz.core.attention import causal_scores
from attnviz.models.capture.head_selection import resolve_index, to_float32
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.tokens.units import Unit

CELLS = 1 << 21  #: of a band, about: it stays in the processor's cache
FEWEST_ROWS = 32  #: of a band: with fewer, calls would take longer than numbers
LARGEST_POOL = 2 * 10**9  #: bytes of weights between units, in all heads


@dataclass(frozen=True)
class Band:
    """Some rows of some heads, and the keys that any of these rows may see."""

    heads: list[int]
    rows: slice
    keys: slice


@dataclass(frozen=True)
class WeightBand(Band):
    """The weights of a band."""

    weights: Tensor  #: (B, H', q, k)
    scores: Tensor | None = None  #: where the layer is plain and causal: what the softmax was given


def split_bands(layer: RecordedLayer, heads: Sequence[int] | None = None, aligned: bool = False) -> Iterator[Band]:
    """Yield the bands of a layer: heads that share a K/V head together, rows from first to last.

    With `aligned`, a band's last key is at the position of its last query, as measures of neighbouring tokens expect;
    a layer that looks ahead then comes in bands of all rows.
    """
    chosen = list(range(layer.n_heads)) if heads is None else list(heads)
    b, _, q_len, k_len = layer.shape
    of_one = layer.n_heads // layer.n_kv_heads if layer.exact else 1
    groups = [[h for h in chosen if h // of_one == group] for group in sorted({h // of_one for h in chosen})]
    if len(chosen) == layer.n_heads and b * len(chosen) * q_len * k_len <= CELLS:
        groups = [chosen]
    simple = is_plain_causal(layer)
    mask = None if simple or not layer.exact else layer.mask
    whole = aligned and not simple and (mask is None or _looks_ahead(mask, q_len, k_len))
    for group in groups:
        size = q_len if whole else max(FEWEST_ROWS, CELLS // max(1, b * len(group) * k_len))
        for start in range(0, q_len, size):
            rows = slice(start, min(start + size, q_len))
            if simple or (aligned and not whole):
                keys = slice(0, rows.stop + k_len - q_len)
            else:
                keys = slice(0, k_len) if mask is None or whole else visible_keys(mask, rows)
            yield Band(group, rows, keys)


def weight_bands(
    layer: RecordedLayer, heads: Sequence[int] | None = None, aligned: bool = False
) -> Iterator[WeightBand]:
    """Yield a layer's weights in the bands of `split_bands`."""
    for band in split_bands(layer, heads, aligned):
        yield compute_band(layer, band)


def compute_band(layer: RecordedLayer, band: Band) -> WeightBand:
    """Compute the weights of a band with all keys that its rows may see; none after the last row if it is causal."""
    if is_plain_causal(layer):
        scores = causal_scores(*band_vectors(layer, band), layer.scale)
        return WeightBand(band.heads, band.rows, band.keys, scores.softmax(-1), scores)
    weights = layer.cropped(band.rows, band.keys).weights(band.heads)
    return WeightBand(band.heads, band.rows, band.keys, weights)


def _looks_ahead(mask: Tensor, q_len: int, k_len: int) -> bool:
    """Whether any query may see a key after it; the last query is at the position of the last key."""
    return bool(mask.expand(*mask.shape[:-2], q_len, k_len).triu(1 + k_len - q_len).any())


def is_plain_causal(layer: RecordedLayer) -> bool:
    """Whether softmax(scale * q.kT) under a causal mask is all there is to this layer's weights."""
    more = (layer.allowed, layer.blocked, layer.padding, layer.bias, layer.softcap, layer.sinks, layer.scales)
    square = layer.shape[2] == layer.shape[3]
    return layer.exact and layer.causal and square and all(extra is None for extra in (*more, layer.set_weights))


def band_vectors(layer: RecordedLayer, band: Band) -> tuple[Tensor, Tensor]:
    """Queries (B, H', q, D) and keys (B, G, k, D) of a band, all its heads of one K/V head or all of the layer's."""
    q, k, _ = layer.qkv
    groups = sorted({head * layer.n_kv_heads // layer.n_heads for head in band.heads})
    return to_float32(q[:, band.heads, band.rows]), to_float32(k[:, groups, band.keys])


def visible_keys(mask: Tensor, rows: slice) -> slice:
    """Slice from the first to the last key that any of these rows may see; at least one key."""
    row_mask = mask[..., rows, :] if mask.shape[-2] > 1 else mask
    seen = row_mask.reshape(-1, row_mask.shape[-1]).any(0).nonzero()
    return slice(int(seen[0]), int(seen[-1]) + 1) if len(seen) else slice(0, 1)


# One query's weights in every head, and weights summed over words, sentences or turns.
@dataclass(frozen=True)
class AttentionRow:
    """Weights of one query in every head of N layers."""

    weights: Tensor  #: (N, H, K)
    tokens: tuple[str, ...]  #: labels of the keys, where they are known
    query: int

    def top(self, n: int = 5, layer: int | None = None, head: int | None = None) -> list[tuple[int, int, int, float]]:
        """The `n` largest weights as (layer, head, key, weight), of all heads or of the ones named."""
        require_whole("n", n)
        for name, value, count in (("layer", layer, self.weights.shape[0]), ("head", head, self.weights.shape[1])):
            if value is not None:
                resolve_index(name, value, count)
        layers = slice(None) if layer is None else [layer]
        chosen = self.weights[layers][:, slice(None) if head is None else [head]]
        values, at = chosen.flatten().topk(min(n, chosen.numel()))
        where = torch.stack(torch.unravel_index(at, chosen.shape), 1).tolist()
        return [
            (a if layer is None else layer, b if head is None else head, key, value)
            for (a, b, key), value in zip(where, values.tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        names = self.tokens or tuple(map(str, range(self.weights.shape[-1])))
        best = ", ".join(f"{layer}.{head} {names[key]} {weight:.2f}" for layer, head, key, weight in self.top(3))
        return f"<AttentionRow of query {self.query} ({names[self.query]}): {best}>"


def row_weights(layers: Sequence[RecordedLayer], query: int, sentence: int) -> Tensor:
    """Weights (N, H, K) of one query of one sentence in layers of one shape; no other row is computed."""
    at = slice(query, query + 1)
    return torch.stack([layer.cropped(at, slice(None)).weights()[sentence, :, 0] for layer in layers])


@dataclass(frozen=True)
class PooledWeights:
    """Weights between units of a text: summed over the keys of a unit, then the mean or the largest of its queries."""

    weights: Tensor  #: (N, B, H, U, U)
    units: tuple[Unit, ...]
    how: Literal["mean", "max"]

    def received(self, ignore: int = 4) -> Tensor:
        """What a token of each unit gets on average from the units after it, (N, B, H, U); NaN where none is.

        The nearest ones are left out: a unit counts that is at least `ignore` units later.
        """
        require_whole("ignore", ignore)
        sizes = torch.tensor([unit.stop - unit.start for unit in self.units], device=self.weights.device)
        later = torch.ones(len(sizes), len(sizes), device=self.weights.device).tril(-ignore)
        return (self.weights * later).sum(-2) / sizes / later.sum(-2).where(later.any(-2), torch.nan)

    def __repr__(self) -> str:
        n, b, heads, count, _ = self.weights.shape
        return f"<PooledWeights: {n} layers of {heads} heads, {b} x {count} units, {self.how} of queries>"


def require_room(layers: Sequence[RecordedLayer], count: int) -> None:
    """Raise a Problem if the weights between these units would take more than LARGEST_POOL."""
    size = 4 * count**2 * sum(layer.shape[0] * layer.n_heads for layer in layers)
    if size > LARGEST_POOL:
        raise Problem(
            "weights between {count} units take {size} in all heads, and at most {most} are built: take larger units",
            count=f"{count:,}",
            size=decimal(size),
            most=decimal(LARGEST_POOL),
        )


def pool_layer(layer: RecordedLayer, units: Sequence[Unit], how: Literal["mean", "max"]) -> Tensor:
    """Weights of a layer between units, (B, H, U, U), with its weights in bands."""
    b, heads, q_len, k_len = layer.shape
    unit_of = torch.full((k_len,), len(units), device=layer.device)  # tokens outside of all units go to a last one
    for number, unit in enumerate(units):
        unit_of[unit.start : unit.stop] = number
    count = len(units) + 1
    pooled = torch.zeros(b, heads, count, count, device=layer.device)
    for band in weight_bands(layer):
        summed = pooled.new_zeros(*band.weights.shape[:3], count)
        summed.index_add_(3, unit_of[band.keys], band.weights.to(pooled.dtype))  # (B, H', q, U + 1)
        rows = unit_of[band.rows.start + k_len - q_len : band.rows.stop + k_len - q_len]
        pooled[:, band.heads] = pooled[:, band.heads].scatter_reduce(
            2, rows[:, None].expand_as(summed), summed, "amax" if how == "max" else "sum"
        )
    if how == "mean":
        sizes = torch.bincount(unit_of[k_len - q_len :], minlength=count).clamp_min(1)
        pooled = pooled / sizes[:, None]
    return pooled[..., :-1, :-1]


# How far heads look, how evenly, and how much goes to the first token.
@dataclass(frozen=True)
class HeadProfiles:
    """Averages over all rows of a text for every head of N layers, (N, B, H) each; NaN where no row has one."""

    layers: tuple[str, ...]  #: dotted names of the layers
    entropy: Tensor  #: nats
    sink_mass: Tensor  #: weight on the first token that is not padding, from 0 to 1
    by_distance: Tensor  #: (N, B, H, bins): weight on keys at these distances; bins add up to a row's weight
    edges: tuple[int, ...]  #: bin i holds distances from edges[i] to edges[i + 1] - 1 positions, the last one all above

    def beyond(self, distance: int) -> Tensor:
        """Weight on keys at least `distance` positions away, (N, B, H); `distance` must be one of `edges`."""
        require_one_of("distance", distance, self.edges)
        return self.by_distance[..., self.edges.index(distance) :].sum(-1)

    def __repr__(self) -> str:
        n, b, heads = self.entropy.shape
        return f"<HeadProfiles: {n} layers of {heads} heads, {b} x up to {self.edges[-1]} positions and beyond>"


def distance_edges(k_len: int) -> tuple[int, ...]:
    """0, 1, 2, 4, 8 and so on, up to the longest distance."""
    return (0, *(1 << power for power in range(max(k_len - 1, 1).bit_length())))


def profile_layers(layers: Sequence[RecordedLayer]) -> HeadProfiles:
    """Profiles of layers of one shape, in one pass over their weights."""
    edges = distance_edges(layers[0].shape[3])
    profiles = [profile_layer(layer, edges) for layer in layers]
    entropy, sinks, by_distance = (torch.stack(parts) for parts in zip(*profiles, strict=True))
    return HeadProfiles(tuple(layer.name for layer in layers), entropy, sinks, by_distance, edges)


def profile_layer(layer: RecordedLayer, edges: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Mean entropy (B, H), weight on the first token (B, H) and weight by distance (B, H, bins) of a layer."""
    b, heads, q_len, k_len = layer.shape
    real = None if layer.padding is None else layer.padding[..., 0, :].expand(b, -1, -1)  # (B, 1, K)
    first = measures.first_keys(torch.empty((), device=layer.device).expand(layer.shape), real)
    values = torch.empty(2, b, heads, q_len, device=layer.device)
    by_offset = torch.zeros(b, heads, q_len + k_len - 1, device=layer.device)
    for band in weight_bands(layer):
        weights = band.weights if real is None else band.weights * real[..., None, band.keys]
        entropy = measures.entropy(weights) if band.scores is None else measures.entropy_of_scores(band.scores, weights)
        rows = torch.stack([entropy, measures.weighted_sum(weights, first[..., band.keys])])
        values[:, :, band.heads, band.rows] = rows.masked_fill(weights.sum(-1) == 0, torch.nan)
        if layer.real_queries is not None:
            weights = weights * layer.real_queries[..., band.rows, None]
        start = q_len - band.rows.stop + band.keys.start
        sums = sum_diagonals(weights)
        by_offset[:, band.heads, start : start + sums.shape[-1]] += sums
    entropy, sinks = measures.mean_over_rows(values, layer.real_queries)
    away = (torch.arange(q_len + k_len - 1, device=layer.device) - (k_len - 1)).abs()
    bins = torch.bucketize(away, torch.tensor(edges[1:], device=layer.device), right=True)
    mass = by_offset.new_zeros(b, heads, len(edges)).index_add_(2, bins, by_offset)
    counted = ~values[0].isnan() if layer.real_queries is None else ~values[0].isnan() & layer.real_queries
    return entropy, sinks, mass / counted.sum(-1, keepdim=True)


def sum_diagonals(weights: Tensor) -> Tensor:
    """Sums over the rows of (..., q, k) where key minus query is the same, (..., q + k - 1), lowest first."""
    *lead, q_len, k_len = weights.shape
    width = q_len + k_len - 1
    skewed = weights.new_zeros(*lead, q_len, width)  # each row one place further left than the row above it
    view = skewed.as_strided(weights.shape, (*skewed.stride()[:-2], width - 1, 1), q_len - 1)
    view.copy_(weights)
    return skewed.sum(-2)
