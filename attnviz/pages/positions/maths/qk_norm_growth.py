"""Attention with RoPE over a video's patches as queries and keys grow, with RMSNorm and without."""

import inspect
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.word_vectors import random_normal
from attnviz.base.message import MessageList, Problem
from attnviz.core.attention import attend
from attnviz.core.costs import QKNorm
from attnviz.core.heads import HeadLayout
from attnviz.core.measures import entropy_share, jacobian_norm
from attnviz.core.projections import make_qk_norms, split_heads
from attnviz.core.rope import AxialRoPE, grid_positions

GRID = (2, 4, 4)  #: frames, rows and columns of patches
HEADS = 4
GROWTHS = tuple(2.0 ** (i / 2) for i in range(-2, 11))  #: factors of the query and key projections: 0.5 to 32
NORMS = ("head", "full")


@dataclass(frozen=True)
class Config:
    """The kind of norm, the chosen growth, the width of a head and the seed."""

    norm: str = "full"  #: over one head, or over all heads together as in Wan's video transformer
    growth: float = 8.0
    d_head: int = 32
    seed: int = 0


@dataclass(frozen=True)
class GrowthCurves:
    """Measures over GROWTHS for one model, and the same at the chosen growth."""

    logit: np.ndarray  #: (growths,) the largest size of a logit
    entropy: np.ndarray  #: (growths,) entropy of the rows over the largest possible, mean
    gradient: np.ndarray  #: (growths,) norm of softmax's Jacobian, mean over the rows: how much of a change passes
    weights: np.ndarray  #: (patches, patches) of the first head at the chosen growth
    largest: float  #: logit at it
    entropy_share: float  #: entropy share at it


@dataclass(frozen=True)
class Result:
    """The curves with and without the norm."""

    config: Config
    without_norm: GrowthCurves
    with_norm: GrowthCurves
    bound: float  #: no logit can be larger with the norm and weights of 1


def run(config: Config) -> Result:
    """Attend with the same random patches and projections times each factor, with the norm and without."""
    if config.norm not in NORMS:
        raise Problem("{norm} must be one of {allowed}", norm=config.norm, allowed=MessageList(NORMS))
    if config.d_head < 6 or config.d_head % 2 or config.d_head > 256:
        raise Problem("d_head={d_head} must be even, from 6 to 256", d_head=config.d_head)
    if not 0 < config.growth <= 1000:
        raise Problem("growth={growth} must lie between 0 and 1000", growth=config.growth)
    # a query's length is at most sqrt(D), or sqrt(H D) when one head may take all of the length of the whole
    max_length = config.d_head * (HEADS if config.norm == "full" else 1)
    normed = _measure_curves(config, config.norm)  # type: ignore[arg-type]
    return Result(config, _measure_curves(config, None), normed, max_length / math.sqrt(config.d_head))


def _measure_curves(config: Config, norm: QKNorm | None) -> GrowthCurves:
    patches = draw_patches(config.d_head, config.seed)
    over_growths = zip(*(measure_growth(*patches, growth, norm)[1:] for growth in GROWTHS), strict=True)
    weights, largest, spread, _gradient = measure_growth(*patches, config.growth, norm)
    logit, entropy, gradient = (np.array(values) for values in over_growths)
    return GrowthCurves(logit, entropy, gradient, weights, largest, spread)


def draw_patches(d_head: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Patches (P, M) and the projections of queries and keys, (M, M), from the seed."""
    m = HEADS * d_head
    x = random_normal(seed, math.prod(GRID), m).double()
    w_q, w_k = random_normal(seed + 1, 2, m, m).double() / math.sqrt(m)
    return x, w_q, w_k


def measure_growth(
    x: Tensor, w_q: Tensor, w_k: Tensor, growth: float, norm: QKNorm | None
) -> tuple[np.ndarray, float, float, float]:
    """First head's weights (P, P), largest |logit|, mean entropy share, mean norm of the Jacobian."""
    q_norm, k_norm = make_qk_norms(norm, HeadLayout(x.shape[1], HEADS))
    rope, grid = AxialRoPE(), grid_positions(*GRID)
    with torch.no_grad():
        q = rope.rotate(q_norm(split_heads(x @ (w_q * growth), HEADS)), grid)
        k = rope.rotate(k_norm(split_heads(x @ (w_k * growth), HEADS)), grid)
    stages = attend(q, k, torch.zeros_like(q[..., :0]))
    spread, gradient = (float(measure(stages.weights).mean()) for measure in (entropy_share, jacobian_norm))
    return stages.weights[0].numpy(), float(stages.scaled.abs().max()), spread, gradient


def program(config: Config) -> str:
    """Program that prints the largest |logit| and the entropy at the chosen factor, with and without the norm."""
    return f"""\

import numpy as np
import torch
from attnviz.core.attention import attend
from attnviz.core.costs import QKNorm
from attnviz.core.heads import HeadLayout
from attnviz.core.measures import entropy_share, jacobian_norm
from attnviz.core.projections import make_qk_norms
from attnviz.core.projections import split_heads
from attnviz.core.rope import AxialRoPE, grid_positions
from attnviz.pages.positions.maths.qk_norm_growth import GRID, HEADS, draw_patches
from torch import Tensor


{inspect.getsource(measure_growth)}

parts = draw_patches({config.d_head}, {config.seed})
for name, norm in (("without", None), ("with", {config.norm!r})):
    weights, logit, spread, gradient = measure_growth(*parts, {config.growth}, norm)
    print(f"{{name}} the norm: largest |logit| {{logit:.4g}}, entropy {{spread:.1%}}")
"""
