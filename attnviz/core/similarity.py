"""How alike attention heads are."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnviz.core.measures import distribution, entropy, over_rows


def similarity(weights: Tensor, rows: Tensor | None = None, at_once: int = 1 << 24) -> Tensor:
    """How alike heads are, (..., N, N) for weights (..., N, Q, K): 1 = the same in every row, 0 = no key in common.

    1 - JS / ln 2, the Jensen-Shannon divergence of two heads' rows, averaged over the rows in which
    both see a key and which `rows`, boolean and broadcast to (..., N, Q), keeps. Symmetric. For all heads of all
    layers pass weights.flatten(0, 1). Works through a few heads at a time: `at_once` bounds the cells held.
    """
    p = distribution(weights)
    own = entropy(weights)  # (..., N, Q)
    keep = own.isfinite() if rows is None else own.isfinite() & rows
    p, own = p.nan_to_num(0.0), own.nan_to_num(0.0)
    step = max(1, at_once // max(1, p.numel()))
    return torch.cat([_alike(p, own, keep, slice(i, i + step)) for i in range(0, p.shape[-3], step)], dim=-2)


def _alike(p: Tensor, own: Tensor, keep: Tensor, some: slice) -> Tensor:
    """Similarity of `some` heads with all, (..., n, N)."""
    mixture = (p[..., some, None, :, :] + p[..., None, :, :, :]) / 2  # (..., n, N, Q, K)
    per_key: Tensor = torch.special.xlogy(mixture, mixture)
    divergence = -per_key.sum(-1) - (own[..., some, None, :] + own[..., None, :, :]) / 2  # (..., n, N, Q)
    alike = (1 - divergence / math.log(2)).clamp(0.0, 1.0)
    return over_rows(alike, keep[..., some, None, :] & keep[..., None, :, :])
