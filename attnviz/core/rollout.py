"""Attention through all layers at once: rollout (Abnar & Zuidema 2020, arXiv 2005.00928)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from attnviz.base.message import Problem

Heads = Literal["mean", "max", "min"]


def joined_heads(weights: Tensor, heads: Heads = "mean") -> Tensor:
    """The heads of one layer as one: weights (..., H, T, T) -> (..., 1, T, T)."""
    if heads == "mean":
        return weights.mean(-3, keepdim=True)
    return weights.amax(-3, keepdim=True) if heads == "max" else weights.amin(-3, keepdim=True)


def layer_mix(weights: Tensor, residual: float = 0.5, heads: Heads = "mean") -> Tensor:
    """One matrix per layer, residual stream included: weights (..., H, T, T) -> (..., T, T), rows sum to 1.

    The result is (1 - residual) * combined heads + residual * identity, with each row scaled to sum to 1. The
    residual stream carries every token forward at its own position; 0.5 gives it the same share as attention.
    """
    if weights.shape[-1] != weights.shape[-2]:
        raise Problem(
            "weights have {q} queries and {k} keys; following attention through layers needs as many of both",
            q=weights.shape[-2],
            k=weights.shape[-1],
        )
    if not 0 <= residual <= 1:
        raise Problem("residual={residual} must be between 0 and 1", residual=residual)
    joined = joined_heads(weights, heads).squeeze(-3)
    identity = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    mixed = (1 - residual) * joined + residual * identity
    total = mixed.sum(-1, keepdim=True)
    return torch.where(total > 0, mixed / total, identity)  # a row that may see no key keeps its own token


def rollout(weights: Tensor, residual: float = 0.5, heads: Heads = "mean") -> Tensor:
    """The share of each input token in each position after every layer, 0 to 1.

    weights (L, ..., H, T, T) -> (L, ..., T, T), rows sum to 1, with L layers. It is the running product of the
    layers' mixes: [l, ..., i, j] is the share of input token j in position i after layer l. It shows paths of
    attention, not causes, because values and FFNs are ignored.
    """
    mixes = layer_mix(weights, residual, heads)
    so_far = [mixes[0]]
    for mix in mixes[1:]:
        so_far.append(mix @ so_far[-1])
    return torch.stack(so_far)
