"""Heads of a long text as a pyramid: an overview first, then tiles of what is looked at, made from q and k.

A cell of a picture is the largest weight of its block: attention is sparse, and a mean would hide what matters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.base.packed import pack_blob
from attnviz.models.capture import RecordedLayer
from attnviz.models.capture.all_heads import block_edges
from attnviz.models.capture.bands import CELLS, Band, band_vectors, compute_band, is_plain_causal
from attnviz.models.capture.head_selection import to_float32

TILE = 256  #: cells a side of a tile
OVERVIEW = 512  #: cells a side of an overview, at most
THUMBNAIL = 32
DECADES = 5  #: of the scale of the pictures: from 0.00001 to 1


@dataclass(frozen=True, eq=False)
class HeadOverview:
    """A whole head, made small."""

    step: int  #: tokens a side of a cell
    codes: NDArray[np.uint8]  #: (rows, columns), `log_codes` of the largest weight of each cell
    lse: NDArray[np.float32]  #: (Q,) log of the sum of exp(scaled score) of each row; empty where weights need more

    def pack(self, layer: RecordedLayer) -> bytes:
        """Pack it for the browser, with what the browser needs to compute the head's weights."""
        rows, columns = self.codes.shape
        width = layer.qkv[0].shape[-1] if layer.exact else 0
        header = {"step": self.step, "rows": rows, "columns": columns, "tokens": layer.shape[2]}
        header |= {"width": width, "scale": layer.scale, "plain": is_plain_causal(layer)}
        return pack_blob(header, self.codes.tobytes() + self.lse.astype("<f4").tobytes())


def log_codes(weights: Tensor) -> NDArray[np.uint8]:
    """Weights as codes from 1 to 255, in even steps of their logarithm from 0.00001 to 1; below 0 is masked: 0."""
    steps = 1 + (254 * (1 + weights.clamp(1e-9, 1).log10() / DECADES).clamp(0, 1)).round()
    return torch.where(weights < 0, 0, steps).to(torch.uint8).cpu().numpy()


def overview_step(tokens: int) -> int:
    """The smallest power of two by which the tokens must be divided to fit into an overview."""
    return 1 << max(0, -(-tokens // OVERVIEW) - 1).bit_length()


def make_overview(layer: RecordedLayer, head: int) -> HeadOverview:
    """Compute a head's overview and the log-sum-exp of its rows, a band of rows at a time."""
    _, _, q_len, k_len = layer.shape
    step = overview_step(max(q_len, k_len))
    rows = max(1, CELLS // k_len // step) * step
    bands, sums = [], []
    for start in range(0, q_len, rows):
        band = slice(start, min(start + rows, q_len))
        if is_plain_causal(layer):
            computed = compute_band(layer, Band([head], band, slice(0, band.stop)))
            assert computed.scores is not None  # which a plain causal layer has
            scores, weights = computed.scores[0, 0], computed.weights[0, 0]
            sums.append(scores.amax(-1) - weights.amax(-1).log())
            weights = _fill_later(weights, band, 0, -1)
        else:
            weights = _any_weights(layer, head, band)
        blocks = _largest_of_blocks(weights, step)
        bands.append(nn.functional.pad(blocks, (0, -(-k_len // step) - blocks.shape[1]), value=-1))
    lse = torch.cat(sums).cpu().numpy() if sums else np.empty(0, np.float32)
    return HeadOverview(step, log_codes(torch.cat(bands)), lse)


def make_tile(layer: RecordedLayer, head: int, lse: NDArray[np.float32], step: int, i: int, j: int) -> Tensor:
    """The largest weights of 256 x 256 blocks of `step` x `step` tokens, from row 256·i and column 256·j of blocks.

    Fewer at the lower and right edges. -1 where all of a block is masked.
    """
    _, _, q_len, k_len = layer.shape
    size = TILE * step
    rows, keys = (slice(at * size, min(at * size + size, n)) for at, n in ((i, q_len), (j, k_len)))
    bands = []
    height = max(1, CELLS // (size if len(lse) else k_len) // step) * step
    for start in range(rows.start, rows.stop, height):
        band = slice(start, min(start + height, rows.stop))
        if len(lse):
            q, k = band_vectors(layer, Band([head], band, keys))
            scores = (q * layer.scale @ k.mT)[0, 0]
            sums = torch.from_numpy(lse[band]).to(scores.device)
            weights = _fill_later(scores.sub_(sums[:, None]).exp_(), band, keys.start, -1)
        else:
            weights = _any_weights(layer, head, band)[:, keys]
        bands.append(_largest_of_blocks(weights, step))
    return torch.cat(bands)


def mean_row(layer: RecordedLayer, head: int, start: int, stop: int) -> Tensor:
    """The mean of a head's weights (K,) over the queries from `start` up to `stop`."""
    return layer.cropped(slice(start, stop), slice(None)).weights([head])[0, 0].mean(0)


def head_vectors(layer: RecordedLayer, head: int, kind: str, block: int | None = None) -> NDArray[np.float32]:
    """Queries ("q") or keys ("k") of a head, (n, D): those from position 256·block on, at most 256; None: all."""
    q, k, _ = layer.qkv
    vectors = q[0, head] if kind == "q" else k[0, head * layer.n_kv_heads // layer.n_heads]
    chosen = slice(None) if block is None else slice(block * TILE, (block + 1) * TILE)
    return to_float32(vectors[chosen]).cpu().numpy().astype("<f4")


def file_parts(layers: Sequence[RecordedLayer], heads: Sequence[tuple[int, int]]) -> dict[tuple[Any, ...], bytes]:
    """What a file holds of a text: all heads small, and of these (layer, head) the overview, q and k in 16 bits.

    From q and k the browser makes every weight under any mask and scale. Problem where a head needs more than those.
    """
    parts: dict[tuple[Any, ...], bytes] = {("wall", 1): sample_heads(layers).tobytes()}
    for index, head in heads:
        layer = layers[index]
        if not is_plain_causal(layer):
            raise Problem(
                "Layer {layer} is more than q·k under a causal mask: a file of a long text cannot hold its heads",
                layer=index,
            )
        parts["overview", index, head] = make_overview(layer, head).pack(layer)
        for kind in ("q", "k"):
            parts[kind, index, head] = head_vectors(layer, head, kind).astype("<f2").tobytes()
    return parts


def sample_heads(layers: Sequence[RecordedLayer], per_row: int = 1) -> NDArray[np.uint8]:
    """Thumbnails (heads, 32, 32) of all heads, coded as `packing` does: `per_row` rows of each band are computed."""
    pictures = []
    for layer in layers:
        _, heads, q_len, k_len = layer.shape
        edges_q, edges_k = block_edges(q_len, THUMBNAIL), block_edges(k_len, THUMBNAIL)
        firsts, stops = torch.tensor(edges_q[:-1]), torch.tensor(edges_q[1:])
        share = (torch.arange(per_row) + 0.5) / per_row
        rows = (firsts[:, None] + (stops - firsts)[:, None] * share).long().flatten().to(layer.device)
        cropped = layer.cropped(rows, slice(None))
        weights = cropped.weights()[0].masked_fill(~cropped.mask.expand(1, heads, -1, -1)[0], -1)
        bands = weights.unflatten(1, (len(firsts), per_row)).amax(2)
        largest = torch.stack([bands[..., a:b].amax(-1) for a, b in pairwise(edges_k)], -1)
        codes = torch.where(largest < 0, 255, (largest.clamp(0, 1).sqrt() * 254).round())
        pictures.append(codes.to(torch.uint8).cpu().numpy())
    return np.concatenate(pictures)


def _fill_later(values: Tensor, rows: slice, first_key: int, filler: float) -> Tensor:
    """`values` (q, k) with `filler` where a key comes later than its query; only the keys that may are looked at."""
    start = max(0, rows.start - first_key)
    corner = values[:, start:]
    queries, keys = (torch.arange(n, device=values.device) for n in corner.shape)
    corner.masked_fill_(keys + first_key + start > (queries + rows.start)[:, None], filler)
    return values


def _any_weights(layer: RecordedLayer, head: int, rows: slice) -> Tensor:
    """Weights (q, K) of some rows of any head, -1 where its mask hides a key."""
    band = layer.cropped(rows, slice(None))
    weights = band.weights([head])[0, 0]
    if not layer.exact:
        return weights
    mask = band.mask
    return weights.masked_fill(~mask[0, head if mask.shape[1] > 1 else 0].expand_as(weights), -1)


def _largest_of_blocks(weights: Tensor, step: int) -> Tensor:
    """The largest of each block of `step` x `step` of (q, k); those at the edges may be smaller."""
    if step == 1:
        return weights
    missing = [-n % step for n in weights.shape]
    padded = nn.functional.pad(weights, (0, missing[1], 0, missing[0]), value=-1)
    return padded.unflatten(1, (-1, step)).amax(-1).unflatten(0, (-1, step)).amax(1)
