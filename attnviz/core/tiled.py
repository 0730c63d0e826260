"""Attention over tiles of the score matrix with an online softmax, forward and backward, written plainly.

Flash attention (Dao et al. 2022; the order of the loops is that of Dao 2023): no more than one tile of scores is
held. Each row keeps the largest score so far and the sum of exponentials below it; where a tile brings a larger score,
sum and output so far are multiplied by exp(old largest - new largest). The gradient computes each tile again, from the
row's log-sum-exp. Letters as in `attend`; inside, heads that share keys are an axis R = H/G: (..., G, R, q, k).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from attnviz.base.message import require_at_least, require_multiple
from attnviz.core.attention import scale_factor


@dataclass(frozen=True)
class Tiling:
    """How large tiles are, and which pairs attend: the last query stands at the last key, as in `masks.causal`."""

    block_q: int = 64
    block_k: int = 64
    causal: bool = False
    window: int | None = None  #: only the last so many keys, a query's own among them

    def __post_init__(self) -> None:
        sizes = {"block_q": self.block_q, "block_k": self.block_k, "window": self.window}
        for name, value in sizes.items():
            if value is not None:
                require_at_least(name, value, 1)

    def allowed(self, rows: slice, cols: slice, q_len: int, k_len: int) -> Tensor:
        """Mask of one tile, boolean (q, k), True where the pair attends."""
        queries = torch.arange(rows.start, rows.stop)[:, None] + k_len - q_len
        back = queries - torch.arange(cols.start, cols.stop)
        visible = back >= 0 if self.causal or self.window else torch.ones_like(back, dtype=torch.bool)
        return visible if self.window is None else visible & (back < self.window)

    def tiles(self, q_len: int, k_len: int, by_keys: bool = False) -> Iterator[tuple[slice, slice, Tensor]]:
        """Queries and keys of each tile in which a pair attends, and which pairs do.

        A block of queries comes after the other, or of keys.
        """
        queries, keys = _blocks(q_len, self.block_q), _blocks(k_len, self.block_k)
        for outer, inner in product(keys, queries) if by_keys else product(queries, keys):
            rows, cols = (inner, outer) if by_keys else (outer, inner)
            allowed = self.allowed(rows, cols, q_len, k_len)
            if allowed.any():
                yield rows, cols, allowed


def _blocks(length: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


@dataclass(frozen=True)
class TileStep:
    """State after one tile: of its queries in the forward pass, of its keys in the backward pass.

    `cells` (..., q, k) are its scaled scores, -inf where masked; backward their gradients. `running` holds for each
    query the largest score, the sum and the output (..., q, Dv); for each key the gradients of its value and of itself.
    """

    rows: slice
    cols: slice
    cells: Tensor
    running: tuple[Tensor, ...]


Watch = Callable[[TileStep], object]  #: called with each step


@dataclass(frozen=True)
class TiledResult:
    """Output (..., H, Q, Dv) and log-sum-exp (..., H, Q) of each row: 0 and -inf where a row sees no key."""

    output: Tensor
    log_sum: Tensor


def _group_heads(per_head: Tensor, groups: int) -> Tensor:
    """(..., H, Q, D) as (..., G, R, Q, D): heads that share keys side by side, in 32 bits at least, as kernels do."""
    *lead, heads, length, width = per_head.shape
    require_multiple("n_heads", heads, "n_kv_heads", groups)
    wide = per_head.to(torch.promote_types(per_head.dtype, torch.float32))
    return wide.reshape(*lead, groups, heads // groups, length, width)


def _score_tile(q: Tensor, k: Tensor, allowed: Tensor) -> Tensor:
    """A tile's scaled scores, -inf where masked."""
    tile = q @ k.mT * scale_factor("sqrt", q.shape[-1])
    return tile.masked_fill(~allowed.to(q.device), -torch.inf)


def tiled_attend(
    q: Tensor, k: Tensor, v: Tensor, tiling: Tiling | None = None, watch: Watch = lambda _step: None
) -> TiledResult:
    """Attention over tiles: the same output as `attend`, and the log-sum-exp that the backward pass needs."""
    queries, keys, values = (_group_heads(tensor, k.shape[-3]) for tensor in (q, k, v))
    highest = queries.new_full(queries.shape[:-1], -torch.inf)
    total, output = torch.zeros_like(highest), queries.new_zeros(*highest.shape, v.shape[-1])
    for rows, cols, allowed in (tiling or Tiling()).tiles(q.shape[-2], k.shape[-2]):
        scores = _score_tile(queries[..., rows, :], keys[..., cols, :], allowed)
        before = highest[..., rows]
        new = torch.maximum(before, scores.amax(-1))
        below = new.masked_fill(new == -torch.inf, 0.0)  # -inf minus -inf would be NaN
        rescale, weights = (before - below).exp(), (scores - below[..., None]).exp()
        total_here = total[..., rows] * rescale + weights.sum(-1)
        output_here = output[..., rows, :] * rescale[..., None] + weights @ values[..., cols, :]
        highest[..., rows], total[..., rows], output[..., rows, :] = new, total_here, output_here
        watch(TileStep(rows, cols, scores, (new, total_here, output_here)))
    output = output / total.clamp(min=torch.finfo(total.dtype).tiny)[..., None]
    return TiledResult(output.flatten(-4, -3).to(q.dtype), (highest + total.log()).flatten(-3, -2))


def tiled_gradients(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    forward: TiledResult,
    d_output: Tensor,
    tiling: Tiling | None = None,
    watch: Watch = lambda _step: None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of q, k and v, shaped like them, from the gradient of the output.

    Each tile is computed again from its rows' log-sum-exp.
    """
    groups, factor = k.shape[-3], scale_factor("sqrt", q.shape[-1])
    queries, keys, values, output, incoming = (
        _group_heads(tensor, groups) for tensor in (q, k, v, forward.output, d_output)
    )
    row_dots = (incoming * output).sum(-1)
    log_sum = _group_heads(forward.log_sum.masked_fill(forward.log_sum == -torch.inf, 0.0)[..., None], groups)
    dq, dk, dv = (torch.zeros_like(tensor) for tensor in (queries, keys, values))
    for rows, cols, allowed in (tiling or Tiling()).tiles(q.shape[-2], k.shape[-2], by_keys=True):
        scores = _score_tile(queries[..., rows, :], keys[..., cols, :], allowed)
        weights, d_rows = (scores - log_sum[..., rows, :]).exp(), incoming[..., rows, :]
        d_scores = weights * (d_rows @ values[..., cols, :].mT - row_dots[..., rows, None])
        dq[..., rows, :] += d_scores @ keys[..., cols, :] * factor
        dk[..., cols, :] += (d_scores.mT @ queries[..., rows, :]).sum(-3, keepdim=True) * factor
        dv[..., cols, :] += (weights.mT @ d_rows).sum(-3, keepdim=True)
        watch(TileStep(rows, cols, d_scores, (dv[..., cols, :].clone(), dk[..., cols, :].clone())))
    return dq.flatten(-4, -3).to(q.dtype), dk.squeeze(-3).to(k.dtype), dv.squeeze(-3).to(v.dtype)
