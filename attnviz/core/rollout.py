"""Attention through all layers at once: rollout (Abnar & Zuidema 2020, arXiv 2005.00928)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from attnviz.core.message import Problem

Heads = Literal["mean", "max", "min"]


def layer_mix(weights: Tensor, residual: float = 0.5, heads: Heads = "mean") -> Tensor:
    """One matrix per layer, residual stream included: rows of (..., T, T) sum to 1. weights (..., H, T, T).

    (1 - residual) * heads put together + residual * identity, each row scaled to sum to 1. The residual stream
    carries every token on to its own position; 0.5 gives it the same say as attention.
    """
    if weights.shape[-1] != weights.shape[-2]:
        raise Problem(
            "weights have {q} queries and {k} keys; following attention through layers needs as many of both",
            q=weights.shape[-2],
            k=weights.shape[-1],
        )
    if not 0 <= residual <= 1:
        raise Problem("residual={residual} must be between 0 and 1", residual=residual)
    joined = {"mean": weights.mean(-3), "max": weights.amax(-3), "min": weights.amin(-3)}[heads]
    identity = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    mixed = (1 - residual) * joined + residual * identity
    total = mixed.sum(-1, keepdim=True)
    return torch.where(total > 0, mixed / total, identity)  # a row that sees nothing stays where it is


def rollout(weights: Tensor, residual: float = 0.5, heads: Heads = "mean") -> Tensor:
    """How much of each input token is in each position after every layer, (L, ..., T, T), rows sum to 1, 0 to 1.

    weights (L, ..., H, T, T). The product of the layers' mixes: [l, ..., i, j] is the share of input token j
    in position i after layer l. A picture of paths, not of causes: values and FFNs are not looked at.
    """
    mixes = layer_mix(weights, residual, heads)
    so_far = [mixes[0]]
    for mix in mixes[1:]:
        so_far.append(mix @ so_far[-1])
    return torch.stack(so_far)
