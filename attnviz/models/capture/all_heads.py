"""All heads of a layer in one go: their pictures and their measures, from weights that are computed once.

Weights come some rows at a time, with only the keys that these rows may see, and are measured while they lie in the
processor's cache. Under a causal mask half of a layer's cells are never computed, and none ever reaches memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from attnviz.core.measures import keys_allowed
from attnviz.core.yardstick import HeadMeasures, Yardstick
from attnviz.models.capture.recorded_layer import CHUNK, RecordedLayer

SIDE = 32  #: cells a side of a picture, at most
FEWEST_ROWS = 32  #: at a time: with fewer, calls would take longer than numbers


@dataclass(frozen=True)
class Swept:
    """What one sweep over a layer finds."""

    largest: Tensor  #: (B, H, q, k) the largest of each block, at most SIDE a side; -1 where all is masked
    measures: HeadMeasures | None  #: (B, H) each; None where there was nothing to measure with


def measures(layer: RecordedLayer, tokens: Tensor | None = None) -> HeadMeasures:
    """Each measure of every head of a layer, (B, H); `tokens` (B, K) or (K,) are ids, for induction and duplicates."""
    found = sweep(layer, yardstick(layer, tokens)).measures
    assert found is not None
    return found


def few_heads(layer: RecordedLayer) -> list[list[int]]:
    """The heads in groups: all at once if their weights are small, else few at a time.

    Groups are sized so that their weights fit the processor's cache, where computing them is much faster.
    """
    b, heads, q_len, k_len = layer.shape
    step = max(1, CHUNK // 16 // (b * q_len * k_len))
    return [list(range(start, min(start + step, heads))) for start in range(0, heads, step)]


def yardstick(layer: RecordedLayer, tokens: Tensor | None = None) -> Yardstick:
    """What to measure a layer with, the same for all layers of a stack; `tokens` (B, K) or (K,) are the keys' ids.

    Token scores are for self-attention only, because in cross-attention queries and keys are two different sentences.
    """
    repeats = layer.kind == "self" and tokens is not None and tokens.shape[-1] == layer.shape[3]
    ids = tokens.reshape(-1, 1, tokens.shape[-1]) if repeats and tokens is not None else None  # (B or 1, 1, K)
    like = torch.empty((), device=layer.device).expand(layer.shape)
    return Yardstick.of(like, ids, None if layer.padding is None else layer.padding[..., 0, :])


def sweep(layer: RecordedLayer, held: Yardstick | None = None) -> Swept:
    """The pictures of all heads of a layer and, with a yardstick, their measures; padding counts for none of them."""
    mask, padding = layer.mask, None if layer.padding is None else layer.padding[..., 0, :].unsqueeze(-2)
    edges_q, edges_k = edges(layer.shape[2]), edges(layer.shape[3])
    allowed = None if held is None else _allowed(layer, mask if padding is None else mask & padding)
    bands: list[Tensor] = []
    measured: list[dict[str, Tensor]] = []
    for lines in _bands(edges_q, _rows_at_once(layer)):
        rows = slice(lines[0], lines[-1])
        weights, keys = _weights_of(layer, mask, rows)
        bands.append(_largest_of_rows(weights, [line - rows.start for line in lines], keys, layer.shape[3]))
        if held is not None and allowed is not None:
            real = weights if padding is None else weights * padding[..., keys]
            measured.append(held.rows(real, allowed[..., rows], rows.start, keys.start))
    largest = _largest_of_keys(torch.cat(bands, 2) if len(bands) > 1 else bands[0], edges_k)
    if layer.exact:
        largest = torch.where(_any_seen(layer, mask, edges_q, edges_k), largest, -1.0)
    if held is None:
        return Swept(largest, None)
    values = {name: torch.cat([part[name] for part in measured], -1) for name in measured[0]}
    return Swept(largest, held.averaged(values, layer.real_queries))


def edges(n: int, side: int = SIDE) -> list[int]:
    """Where blocks begin, and where the last one ends: as equal as can be, at most `side` of them, none empty."""
    count = max(1, min(n, side))
    return [i * n // count for i in range(count + 1)]


def _rows_at_once(layer: RecordedLayer) -> int:
    b, heads, _, k_len = layer.shape
    return max(FEWEST_ROWS, CHUNK // 16 // max(1, b * heads * k_len))


def _bands(lines: list[int], rows: int) -> Iterator[list[int]]:
    """Neighbouring edges, of about `rows` rows at a time."""
    start = 0
    while start < len(lines) - 1:
        end = start + 1
        while end < len(lines) - 1 and lines[end + 1] - lines[start] <= rows:
            end += 1
        yield lines[start : end + 1]
        start = end


def _allowed(layer: RecordedLayer, mask: Tensor) -> Tensor:
    """How many keys each row may see, (B, H, Q)."""
    return keys_allowed(torch.empty((), device=layer.device).expand(layer.shape), mask)


def _weights_of(layer: RecordedLayer, mask: Tensor, rows: slice) -> tuple[Tensor, slice]:
    """The weights (B, H, q, k) of some rows, and which keys these k are: all that may have any weight."""
    if rows == slice(0, layer.shape[2]):
        return layer.weights(), slice(0, layer.shape[3])
    keys = _seen(mask, rows) if layer.exact else slice(0, layer.shape[3])
    return layer.cropped(rows, keys).weights(), keys


def _seen(mask: Tensor, rows: slice) -> slice:
    """From the first to the last key that any of these rows may see, one key at least."""
    part = mask[..., rows, :] if mask.shape[-2] > 1 else mask
    seen = part.reshape(-1, part.shape[-1]).any(0).nonzero()
    return slice(int(seen[0]), int(seen[-1]) + 1) if len(seen) else slice(0, 1)


def _largest_of_rows(weights: Tensor, lines: list[int], keys: slice, k_len: int) -> Tensor:
    """The largest (B, H, rows, K) of each block of rows of weights (B, H, q, k); 0 at keys that are not among them."""
    if len(lines) - 1 == weights.shape[2] and weights.shape[3] == k_len:
        return weights.float()
    band = weights.new_zeros(*weights.shape[:2], len(lines) - 1, k_len, dtype=torch.float32)
    for i, (start, end) in enumerate(pairwise(lines)):
        band[:, :, i, keys] = weights[:, :, start:end].amax(2)
    return band


def _largest_of_keys(band: Tensor, lines: list[int]) -> Tensor:
    """The largest (..., k) of each block of keys of (..., K)."""
    if len(lines) - 1 == band.shape[-1]:
        return band
    return torch.stack([band[..., start:end].amax(-1) for start, end in pairwise(lines)], -1)


def _any_seen(layer: RecordedLayer, mask: Tensor, edges_q: list[int], edges_k: list[int]) -> Tensor:
    """Whether anything may be seen in each block, (B or 1, H or 1, q, k)."""
    if layer.allowed is None and layer.causal:  # the last row of a block sees most
        return torch.tensor(edges_q[1:], device=mask.device)[:, None] > torch.tensor(edges_k[:-1], device=mask.device)
    whole = mask.expand(*mask.shape[:-2], edges_q[-1], edges_k[-1])
    if len(edges_q) - 1 < whole.shape[-2]:
        whole = torch.stack([whole[..., start:end, :].any(-2) for start, end in pairwise(edges_q)], -2)
    return _largest_of_keys(whole.to(torch.uint8), edges_k).bool()
