"""Queries and keys that grow in training, with and without RMSNorm: attention over a video's patches, with RoPE."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Problem, Several
from attnviz.core.attention import attend
from attnviz.core.heads import HeadLayout
from attnviz.core.measures import entropy_share
from attnviz.core.projections import qk_norms, split_heads
from attnviz.core.rope import AxialRoPE, grid_positions
from attnviz.runs.word_vectors import drawn

GRID = (2, 4, 4)  #: frames, rows and columns of patches
HEADS = 4
GROWTHS = tuple(2.0 ** (i / 2) for i in range(-2, 11))  #: factors of the query and key projections: 0.5 to 32
NORMS = ("head", "full")


@dataclass(frozen=True)
class Config:
    norm: str = "full"  #: over one head, or over all heads together as in Wan's video transformer
    growth: float = 8.0
    d_head: int = 32
    seed: int = 0


@dataclass(frozen=True)
class GrowthCurves:
    """One model, with or without the norm: each (growths,)."""

    logit: np.ndarray  #: the largest size of a logit
    entropy: np.ndarray  #: entropy of the rows over the largest possible, mean
    gradient: (
        np.ndarray
    )  #: norm of softmax's Jacobian, mean over the rows: how much of a change of scores comes through


@dataclass(frozen=True)
class Result:
    config: Config
    growths: np.ndarray  #: GROWTHS
    without: GrowthCurves
    normed: GrowthCurves
    weights: tuple[
        np.ndarray, np.ndarray
    ]  #: (patches, patches) of the first head at the chosen growth, without and with
    here: tuple[tuple[float, float], tuple[float, float]]  #: (largest logit, entropy share) at it, without and with
    bound: float  #: no logit can be larger with the norm and weights of 1


def run(config: Config) -> Result:
    """The same random patches and projections, times each factor, through attention with and without the norm."""
    _check(config)
    x, w_q, w_k = _drawn(config)
    curves = []
    for norm in (None, config.norm):
        measured = [_measured(config, x, w_q * growth, w_k * growth, norm)[1:] for growth in GROWTHS]
        curves.append(GrowthCurves(*(np.array(column) for column in zip(*measured, strict=True))))
    grown = (w_q * config.growth, w_k * config.growth)
    chosen = [_measured(config, x, *grown, norm) for norm in (None, config.norm)]
    # a query's length is at most sqrt(D), or sqrt(H D) when one head may take all of the length of the whole
    longest = config.d_head * (HEADS if config.norm == "full" else 1)
    return Result(
        config,
        np.array(GROWTHS),
        curves[0],
        curves[1],
        (chosen[0][0], chosen[1][0]),
        ((chosen[0][1], chosen[0][2]), (chosen[1][1], chosen[1][2])),
        longest / math.sqrt(config.d_head),
    )


def _drawn(config: Config) -> tuple[Tensor, Tensor, Tensor]:
    """Patches (P, M) and the projections of queries and keys, (M, M)."""
    m = HEADS * config.d_head
    x = drawn(config.seed, math.prod(GRID), m).double()
    w_q, w_k = drawn(config.seed + 1, 2, m, m).double() / math.sqrt(m)
    return x, w_q, w_k


def _measured(
    config: Config, x: Tensor, w_q: Tensor, w_k: Tensor, norm: str | None
) -> tuple[np.ndarray, float, float, float]:
    """The first head's weights, the largest logit, the mean entropy share, and the mean norm of the Jacobian."""
    q_norm, k_norm = qk_norms(norm, HeadLayout(x.shape[1], HEADS))  # type: ignore[arg-type]
    rope, grid = AxialRoPE(), grid_positions(*GRID)
    with torch.no_grad():
        q = rope.rotate(q_norm(split_heads(x @ w_q, HEADS)), grid)
        k = rope.rotate(k_norm(split_heads(x @ w_k, HEADS)), grid)
    made = attend(q, k, torch.zeros_like(q[..., :0]))
    spread = entropy_share(made.weights)
    return made.weights[0].numpy(), float(made.scaled.abs().max()), float(spread.mean()), _jacobian(made.weights)


def _jacobian(weights: Tensor) -> float:
    """Mean Frobenius norm of diag(p) - p pT over the rows p."""
    square, cube = weights.square().sum(-1), weights.pow(3).sum(-1)
    return float((square - 2 * cube + square.square()).clamp_min(0).sqrt().mean())


def _check(config: Config) -> None:
    if config.norm not in NORMS:
        raise Problem("{norm} must be one of {allowed}", norm=config.norm, allowed=Several(NORMS))
    if config.d_head < 6 or config.d_head % 2 or config.d_head > 256:
        raise Problem("d_head={d_head} must be even, from 6 to 256", d_head=config.d_head)
    if not 0 < config.growth <= 1000:
        raise Problem("growth={growth} must lie between 0 and 1000", growth=config.growth)
