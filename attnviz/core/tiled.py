"""Attention over tiles of the score matrix with an online softmax, forward and backward, written plainly.

Flash attention (Dao et al. 2022; the order of the loops is that of Dao 2023): no more than one tile of scores is
held. Each row keeps the largest score so far and the sum of exponentials below it; where a tile brings a larger score,
sum and output so far are multiplied by exp(old largest - new largest). The gradient computes each tile again, from the
row's log-sum-exp. Letters as in `attend`; inside, heads that share keys are an axis R = H/G: (..., G, R, q, k).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.attention import Scale, scale_factor


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
            if value is not None and value < 1:
                raise Problem("{name}={value} must be at least 1", name=name, value=value)

    def rows(self, q_len: int) -> list[slice]:
        return _blocks(q_len, self.block_q)

    def cols(self, k_len: int) -> list[slice]:
        return _blocks(k_len, self.block_k)

    def allowed(self, rows: slice, cols: slice, q_len: int, k_len: int) -> Tensor:
        """Which pairs of a tile attend, boolean (q, k)."""
        queries = torch.arange(rows.start, rows.stop)[:, None] + k_len - q_len
        back = queries - torch.arange(cols.start, cols.stop)
        here = back >= 0 if self.causal or self.window else torch.ones_like(back, dtype=torch.bool)
        return here if self.window is None else here & (back < self.window)


def _blocks(length: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def _grouped(per_head: Tensor, groups: int) -> Tensor:
    """(..., H, Q, D) as (..., G, R, Q, D): heads that share keys, side by side."""
    heads = per_head.shape[-3]
    if heads % groups:
        raise Problem(
            "n_heads={n_heads} must be a multiple of n_kv_heads={n_kv_heads}", n_heads=heads, n_kv_heads=groups
        )
    return per_head.reshape(*per_head.shape[:-3], groups, heads // groups, *per_head.shape[-2:])


@dataclass(frozen=True)
class TileStep:
    """What a tile makes of its rows; `highest`, `total` and `output` are as they stand after it."""

    rows: slice
    cols: slice
    scores: Tensor  #: (..., q, k), scaled, -inf where masked
    rescale: Tensor  #: (..., q), what sum and output so far were multiplied by
    highest: Tensor  #: (..., q), the largest score so far, -inf where there is none
    total: Tensor  #: (..., q), the sum of exp(score - highest) so far
    output: Tensor  #: (..., q, Dv), the values so far, weighted by the same exponentials


@dataclass(frozen=True)
class Tiled:
    """Output (..., H, Q, Dv) and log-sum-exp (..., H, Q) of each row: 0 and -inf where a row sees no key."""

    output: Tensor
    log_sum: Tensor


@dataclass(frozen=True)
class GradientStep:
    """A tile of the backward pass; `dk` and `dv` of its keys as they stand after it."""

    rows: slice
    cols: slice
    weights: Tensor  #: (..., q, k), computed again
    d_scores: Tensor  #: (..., q, k), the gradient of the scaled scores
    dq: Tensor  #: (..., q, D), what the tile adds to the gradient of its queries
    dk: Tensor
    dv: Tensor


@dataclass(frozen=True)
class _Asked:
    """q (..., G, R, Q, D), k and v (..., G, 1, K, .) in at least float32, and what is asked of them."""

    q: Tensor
    k: Tensor
    v: Tensor
    tiling: Tiling
    factor: float
    mask: Tensor | None

    def scores(self, rows: slice, cols: slice) -> Tensor | None:
        """The tile's scaled scores, -inf where masked; None where no pair attends."""
        q_len, k_len = self.q.shape[-2], self.k.shape[-2]
        allowed = self.tiling.allowed(rows, cols, q_len, k_len).to(self.q.device)
        if self.mask is not None:
            allowed = allowed & self.mask[..., rows, cols]
        if not allowed.any():
            return None
        tile = self.q[..., rows, :] @ self.k[..., cols, :].mT * self.factor
        return tile.masked_fill(~allowed, -torch.inf)


def _asked(q: Tensor, k: Tensor, v: Tensor, tiling: Tiling, scale: Scale, mask: Tensor | None) -> _Asked:
    heads, groups = q.shape[-3], k.shape[-3]
    wide = torch.promote_types(q.dtype, torch.float32)  # sums are kept in 32 bits at least, as kernels do
    q, k, v = _grouped(q.to(wide), groups), k.to(wide).unsqueeze(-3), v.to(wide).unsqueeze(-3)
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], q.shape[-2], k.shape[-2])
        if mask.dim() > 2:
            mask = _grouped(mask, groups) if mask.shape[-3] == heads else mask.unsqueeze(-3)
    return _Asked(q, k, v, tiling, scale_factor(scale, q.shape[-1]), mask)


def forward_steps(
    q: Tensor, k: Tensor, v: Tensor, tiling: Tiling, scale: Scale = "sqrt", mask: Tensor | None = None
) -> Iterator[TileStep]:
    """The tiles one by one, a block of rows after the other; tiles in which no pair attends are left out.

    `mask` is boolean and broadcasts to (H, Q, K), True meaning may attend, beside what `tiling` leaves.
    """
    asked = _asked(q, k, v, tiling, scale, mask)
    for rows in tiling.rows(q.shape[-2]):
        block = asked.q[..., rows, :]
        highest, total = block.new_full(block.shape[:-1], -torch.inf), block.new_zeros(block.shape[:-1])
        output = block.new_zeros(*block.shape[:-1], v.shape[-1])
        for cols in tiling.cols(k.shape[-2]):
            scores = asked.scores(rows, cols)
            if scores is None:
                continue
            before, highest = highest, torch.maximum(highest, scores.amax(-1))
            below = highest.masked_fill(highest == -torch.inf, 0.0)  # -inf minus -inf would be NaN
            rescale = (before - below).exp()
            weights = (scores - below[..., None]).exp()
            total = total * rescale + weights.sum(-1)
            output = output * rescale[..., None] + weights @ asked.v[..., cols, :]
            yield TileStep(rows, cols, scores, rescale, highest, total, output)


def tiled_attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    tiling: Tiling | None = None,
    scale: Scale = "sqrt",
    mask: Tensor | None = None,
    watch: Callable[[TileStep], object] = lambda _step: None,
) -> Tiled:
    """Attention over tiles: the same output as `attend`, and what the backward pass needs of each row.

    `watch` is called with each step.
    """
    tiling = tiling or Tiling()
    wide = torch.promote_types(q.dtype, torch.float32)
    output = _grouped(q.new_zeros(*q.shape[:-1], v.shape[-1], dtype=wide), k.shape[-3])
    log_sum = torch.full(output.shape[:-1], -torch.inf, dtype=wide, device=q.device)
    for step in forward_steps(q, k, v, tiling, scale, mask):
        watch(step)
        output[..., step.rows, :] = step.output / step.total.clamp(min=torch.finfo(wide).tiny)[..., None]
        log_sum[..., step.rows] = step.highest + step.total.log()
    return Tiled(output.flatten(-4, -3).to(q.dtype), log_sum.flatten(-3, -2))


def backward_steps(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    made: Tiled,
    d_output: Tensor,
    tiling: Tiling,
    scale: Scale = "sqrt",
    mask: Tensor | None = None,
) -> Iterator[GradientStep]:
    """The tiles one by one, a block of keys after the other, each computed again from the rows' log-sum-exp."""
    asked = _asked(q, k, v, tiling, scale, mask)
    wide, groups = asked.q.dtype, k.shape[-3]
    d_output = _grouped(d_output.to(wide), groups)
    given = (d_output * _grouped(made.output.to(wide), groups)).sum(-1)
    log_sum = _grouped(made.log_sum.masked_fill(made.log_sum == -torch.inf, 0.0)[..., None], groups)[..., 0]
    for cols in tiling.cols(k.shape[-2]):
        keys, values = asked.k[..., cols, :], asked.v[..., cols, :]
        dk, dv = torch.zeros_like(keys), torch.zeros_like(values)
        for rows in tiling.rows(q.shape[-2]):
            scores = asked.scores(rows, cols)
            if scores is None:
                continue
            weights = (scores - log_sum[..., rows, None]).exp()
            incoming = d_output[..., rows, :]
            dv = dv + (weights.mT @ incoming).sum(-3, keepdim=True)
            d_scores = weights * (incoming @ values.mT - given[..., rows, None])
            dk = dk + (d_scores.mT @ asked.q[..., rows, :]).sum(-3, keepdim=True) * asked.factor
            yield GradientStep(rows, cols, weights, d_scores, d_scores @ keys * asked.factor, dk, dv)


def tiled_gradients(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    made: Tiled,
    d_output: Tensor,
    tiling: Tiling | None = None,
    scale: Scale = "sqrt",
    mask: Tensor | None = None,
    watch: Callable[[GradientStep], object] = lambda _step: None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of q, k and v, shaped like them, from the gradient of the output. `watch`: see `tiled_attend`."""
    wide = torch.promote_types(q.dtype, torch.float32)
    dq = _grouped(torch.zeros_like(q, dtype=wide), k.shape[-3])
    dk, dv = torch.zeros_like(k, dtype=wide), torch.zeros_like(v, dtype=wide)
    for step in backward_steps(q, k, v, made, d_output, tiling or Tiling(), scale, mask):
        watch(step)
        dq[..., step.rows, :] += step.dq
        dk[..., step.cols, :], dv[..., step.cols, :] = step.dk.squeeze(-3), step.dv.squeeze(-3)
    return dq.flatten(-4, -3).to(q.dtype), dk.to(k.dtype), dv.to(v.dtype)
