"""Thumbnails and measures of all heads of a layer, from weights that are computed once.

Weights are computed a band of rows at a time, for the keys that these rows may see. They are measured while they are
in the processor's cache. Under a causal mask half of the cells are never computed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from attnviz.core.measures import (
    at_offset,
    count_allowed_keys,
    earlier_occurrences,
    entropy,
    entropy_over_largest,
    first_keys,
    followers,
    key_offsets,
    mean_over_rows,
    weighted_sum,
)
from attnviz.models.capture.bands import FEWEST_ROWS, Band, compute_band, visible_keys
from attnviz.models.capture.recorded_layer import CHUNK, RecordedLayer

SIDE = 32  #: cells a side of a picture, at most


@dataclass(frozen=True)
class Yardstick:
    """Targets of all measures for one sentence, computed once used for every head of every layer.

    Weights may come in bands: some rows at a time, without the keys that none of these rows sees. Measuring a band
    while it is in the processor's cache costs a fraction of measuring it later.
    """

    distance: Tensor  #: (..., Q, K) positions between query and key
    targets: dict[str, Tensor]  #: measure -> (..., Q, K), 1 where the measure counts a key's weight
    has_target: dict[str, Tensor]  #: the same measures -> (..., Q), False where a row has no such key

    @classmethod
    def for_weights(cls, like: Tensor, tokens: Tensor | None = None, keys: Tensor | None = None) -> "Yardstick":
        """Yardstick for weights shaped `like` (..., Q, K); `keys` (..., K) is False at padding, `tokens` key ids."""
        dtype = torch.promote_types(like.dtype, torch.float32)
        away = key_offsets(like, dtype, keys)
        marks: dict[str, Tensor] = {}
        if keys is not None:
            marks = {name: at_offset(like, offset, keys) for name, offset in NEIGHBOURS.items()}
            marks["first_token"] = first_keys(like, keys)
        if tokens is not None:
            marks["duplicate_token"] = earlier_occurrences(like, tokens, keys)
            marks["induction"] = followers(marks["duplicate_token"], keys)
        return cls(
            away.abs(),
            {name: mark.to(dtype) for name, mark in marks.items()},
            {name: mark.any(-1) for name, mark in marks.items()},
        )

    def measure_rows(self, weights: Tensor, allowed: Tensor, first: int = 0, key: int = 0) -> dict[str, Tensor]:
        """Measures of some rows, (..., q), by name; `weights` (..., q, k) begin at row `first` and at key `key`.

        They are entropy in nats and as a share of its maximum, effective keys, largest weight, mean distance in
        positions, and the weight, 0 to 1, on certain tokens: see `attnviz.core.measures`. NaN where a row has none.
        `allowed` (..., q) counts the keys that each row may see; all of them must be among those of `weights`.
        """
        wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
        queries, keys = slice(first, first + wide.shape[-2]), slice(key, key + wide.shape[-1])
        total, spread = wide.sum(-1), entropy(wide)
        values = {
            "entropy": spread,
            "entropy_share": entropy_over_largest(spread, allowed),
            "effective_keys": spread.exp(),
            "largest_weight": wide.amax(-1),
            "mean_distance": weighted_sum(wide, self.distance[..., queries, keys]) / total,
        }
        for name, offset in NEIGHBOURS.items():
            if name not in self.targets:
                values[name] = self._diagonal_weights(wide, offset, first, key)
        if "first_token" not in self.targets:
            values["first_token"] = wide[..., 0] if key == 0 else torch.zeros_like(total)
        for name, target in self.targets.items():
            lines = queries if target.shape[-2] > 1 else slice(None)
            values[name] = weighted_sum(wide, target[..., lines, keys]).masked_fill(
                ~self.has_target[name][..., lines], torch.nan
            )
        return {name: value.masked_fill(total == 0, torch.nan) for name, value in values.items()}

    def _diagonal_weights(self, weights: Tensor, offset: int, first: int, key: int) -> Tensor:
        """Weight on the key `offset` positions after each query; 0 outside this band, NaN outside the sentence."""
        q_len, k_len = self.distance.shape[-2:]
        targets = torch.arange(first, first + weights.shape[-2], device=weights.device) + (k_len - q_len + offset)
        here = targets - key
        inside = (here >= 0) & (here < weights.shape[-1])
        at = here.clamp(0, weights.shape[-1] - 1).expand(weights.shape[:-1]).unsqueeze(-1)
        mass = weights.gather(-1, at).squeeze(-1).masked_fill(~inside, 0.0)
        return mass.masked_fill((targets < 0) | (targets >= k_len), torch.nan)


#: measure of a neighbouring token -> how many positions after the query it is
NEIGHBOURS = {"previous_token": -1, "same_token": 0, "next_token": 1}


@dataclass(frozen=True)
class LayerSweep:
    """Result of one sweep over a layer."""

    largest: Tensor  #: (B, H, q, k) the largest of each block, at most SIDE a side; -1 where all is masked
    #: the row average of each measure, (B, H), NaN where it is undefined in every row; none without a yardstick
    measures: dict[str, Tensor]


def make_yardstick(layer: RecordedLayer, tokens: Tensor | None = None) -> Yardstick:
    """Yardstick of a layer, the same for all layers of a stack; `tokens` (B, K) or (K,) are the keys' ids.

    Token scores are for self-attention only, because in cross-attention queries and keys are two different sentences.
    """
    repeats = layer.kind == "self" and tokens is not None and tokens.shape[-1] == layer.shape[3]
    ids = tokens.reshape(-1, 1, tokens.shape[-1]) if repeats and tokens is not None else None  # (B or 1, 1, K)
    return Yardstick.for_weights(
        _shape_template(layer), ids, None if layer.padding is None else layer.padding[..., 0, :]
    )


def sweep_layer(layer: RecordedLayer, yardstick: Yardstick | None = None) -> LayerSweep:
    """Compute the thumbnails of all heads of a layer and, with a yardstick, their measures without padding."""
    b, heads, q_len, k_len = layer.shape
    mask, padding = layer.mask, None if layer.padding is None else layer.padding[..., 0, :].unsqueeze(-2)
    edges_q, edges_k = block_edges(q_len), block_edges(k_len)
    seen = mask if padding is None else mask & padding
    allowed = None if yardstick is None else count_allowed_keys(_shape_template(layer), seen)  # (B, H, Q)
    at_once = max(FEWEST_ROWS, CHUNK // 16 // max(1, b * heads * k_len))
    bands: list[Tensor] = []
    measured: list[dict[str, Tensor]] = []
    for lines in _split_edges(edges_q, at_once):
        rows = slice(lines[0], lines[-1])
        weights, keys = _row_weights(layer, mask, rows)
        bands.append(_max_over_rows(weights, [line - rows.start for line in lines], keys, k_len))
        if yardstick is not None and allowed is not None:
            real = weights if padding is None else weights * padding[..., keys]
            measured.append(yardstick.measure_rows(real, allowed[..., rows], rows.start, keys.start))
    largest = _max_over_keys(torch.cat(bands, 2) if len(bands) > 1 else bands[0], edges_k)
    if layer.exact:
        largest = torch.where(_visible_blocks(layer, mask, edges_q, edges_k), largest, -1.0)
    names = measured[0] if measured else ()
    means = {n: mean_over_rows(torch.cat([band[n] for band in measured], -1), layer.real_queries) for n in names}
    return LayerSweep(largest, means)


def block_edges(n: int, side: int = SIDE) -> list[int]:
    """Edges of at most `side` blocks of nearly equal size that cover `n` rows; none is empty."""
    count = max(1, min(n, side))
    return [i * n // count for i in range(count + 1)]


def _split_edges(lines: list[int], rows: int) -> Iterator[list[int]]:
    """Yield runs of neighbouring edges that span about `rows` rows each."""
    start = 0
    while start < len(lines) - 1:
        end = start + 1
        while end < len(lines) - 1 and lines[end + 1] - lines[start] <= rows:
            end += 1
        yield lines[start : end + 1]
        start = end


def _shape_template(layer: RecordedLayer) -> Tensor:
    """Empty tensor in the shape of the layer's weights; it takes no memory."""
    return torch.empty((), device=layer.device).expand(layer.shape)


def _row_weights(layer: RecordedLayer, mask: Tensor, rows: slice) -> tuple[Tensor, slice]:
    """Weights (B, H, q, k) of some rows, and the slice of keys that may have any weight."""
    whole = rows == slice(0, layer.shape[2]) or not layer.exact
    keys = slice(0, layer.shape[3]) if whole else visible_keys(mask, rows)
    return compute_band(layer, Band(list(range(layer.n_heads)), rows, keys)).weights, keys


def _max_over_rows(weights: Tensor, lines: list[int], keys: slice, k_len: int) -> Tensor:
    """Maxima (B, H, rows, K) of blocks of rows of `weights` (B, H, q, k); 0 at all other keys."""
    if len(lines) - 1 == weights.shape[2] and weights.shape[3] == k_len:
        return weights.float()
    band = weights.new_zeros(*weights.shape[:2], len(lines) - 1, k_len, dtype=torch.float32)
    for i, (start, end) in enumerate(pairwise(lines)):
        band[:, :, i, keys] = weights[:, :, start:end].amax(2)
    return band


def _max_over_keys(band: Tensor, lines: list[int]) -> Tensor:
    """Maxima (..., k) of blocks of keys of `band` (..., K)."""
    if len(lines) - 1 == band.shape[-1]:
        return band
    return torch.stack([band[..., start:end].amax(-1) for start, end in pairwise(lines)], -1)


def _visible_blocks(layer: RecordedLayer, mask: Tensor, edges_q: list[int], edges_k: list[int]) -> Tensor:
    """Whether any cell of each block is visible, (B or 1, H or 1, q, k)."""
    if layer.allowed is None and layer.blocked is None and layer.causal:  # the last row of a block sees most
        return torch.tensor(edges_q[1:], device=mask.device)[:, None] > torch.tensor(edges_k[:-1], device=mask.device)
    full_mask = mask.expand(*mask.shape[:-2], edges_q[-1], edges_k[-1])
    if len(edges_q) - 1 < full_mask.shape[-2]:
        full_mask = torch.stack([full_mask[..., start:end, :].any(-2) for start, end in pairwise(edges_q)], -2)
    return _max_over_keys(full_mask.to(torch.uint8), edges_k).bool()
