"""Scores that come from positions alone: position against position, over distance, and with all positions shifted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.limits import require_within
from attnviz.base.message import Message, Problem, Several
from attnviz.core.positions import Learned, alibi_slopes, sinusoidal
from attnviz.core.rope import RoPE, frequencies
from attnviz.pages.positions.maths import position_kinds
from attnviz.runs.word_vectors import drawn

KINDS = tuple(kind for kind in position_kinds.KINDS if kind != "none")
MOST = 256  #: positions in the picture


@dataclass(frozen=True)
class Config:
    kind: str = "rope-half"
    width: int = 64  #: D
    base: float = 10_000.0
    n: int = 64  #: positions
    content: str = "same"  #: or "random"
    shift: int = 1000  #: added to all positions
    heads: int = 8  #: of ALiBi and T5
    head: int = 0  #: the one shown
    bidirectional: bool = True  #: T5
    seed: int = 0


@dataclass(frozen=True)
class Result:
    config: Config
    scores: np.ndarray  #: (n, n) what position alone adds to the scaled scores
    distance: np.ndarray  #: (2n-1,) key position minus query position
    mean: np.ndarray  #: (2n-1,) mean score at each distance
    low: np.ndarray
    high: np.ndarray
    shifted: float | None  #: the largest change of a score when all positions are shifted; None: it cannot be done
    why_not: Message | None
    encoding: np.ndarray | None  #: (n, D) the vectors added, or a vector of ones rotated by each position
    wavelengths: np.ndarray | None  #: (D/2,) positions that a pair takes for one turn
    heads: np.ndarray | None  #: (H, 2n-1) ALiBi and T5: every head's bias at each distance
    slopes: np.ndarray | None  #: (H,) ALiBi

    @property
    def spread(self) -> float:
        """How far scores of equal distance lie apart: 0 when the distance decides alone."""
        return float((self.high - self.low).max())

    def at(self, distance: int) -> float:
        """The mean score at a distance, key minus query."""
        return float(self.mean[distance + self.config.n - 1])


def run(config: Config, table: np.ndarray | None = None) -> Result:
    """Scores of all pairs of positions. `table` (positions, M): a trained model's learned vectors, else random ones."""
    _check(config)
    learned = None if table is None else torch.from_numpy(table).double()
    scores, encoding = _scores(config, 0, learned)
    shifted, why_not = None, None
    try:
        shifted = float((_scores(config, config.shift, learned)[0] - scores).abs().max())
    except Problem as problem:
        why_not = problem.message
    distance, mean, low, high = _over_distance(scores)
    biased = config.kind in position_kinds.BIASED
    return Result(
        config,
        scores[config.head].numpy() if biased else scores[0].numpy(),
        distance,
        mean[config.head] if biased else mean[0],
        low[config.head] if biased else low[0],
        high[config.head] if biased else high[0],
        shifted,
        why_not,
        None if encoding is None else encoding.numpy(),
        None if biased or config.kind == "learned" else (2 * math.pi / frequencies(config.width, config.base)).numpy(),
        mean if biased else None,
        alibi_slopes(config.heads).numpy() if config.kind == "alibi" else None,
    )


def _scores(config: Config, shift: int, table: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Scores (1 or H, n, n) of positions shift to shift + n - 1, and the encoding (n, D) where there is one."""
    positions = torch.arange(config.n) + shift
    if config.kind in position_kinds.ROTATED:
        return _rotated(config, positions)
    if config.kind in position_kinds.ADDED:
        return _added(config, positions, table)
    encoding = (
        position_kinds.t5(config.heads, config.seed, bidirectional=config.bidirectional)
        if config.kind == "t5"
        else position_kinds.position("alibi", config.width, config.heads)
    )
    bias = encoding.bias(positions, positions)
    assert bias is not None
    return bias.double(), None


def _rotated(config: Config, positions: Tensor) -> tuple[Tensor, Tensor]:
    """One query vector and one key vector stand at every position; only the rotation differs."""
    rope = RoPE(base=config.base, pairing="half" if config.kind == "rope-half" else "interleaved")
    ones = torch.ones(config.n, config.width, dtype=torch.float64)
    q, k = ones, ones
    if config.content == "random":
        q, k = (vector.double() * ones for vector in drawn(config.seed, 2, config.width))
    q_turned, k_turned = (rope.rotate(x[None], positions) for x in (q, k))
    return q_turned @ k_turned.mT / math.sqrt(config.width), rope.rotate(ones[None], positions)[0]


def _added(config: Config, positions: Tensor, table: Tensor | None) -> tuple[Tensor, Tensor]:
    """The encodings are all that is projected: no word stands anywhere."""
    if config.kind == "sinusoidal":
        x = sinusoidal(positions, config.width, config.base)
    else:
        rows = drawn(config.seed, position_kinds.LONGEST, config.width) if table is None else table
        made = position_kinds.filled(Learned(*rows.shape), rows)
        x = made.add(torch.zeros(config.n, rows.shape[1], dtype=torch.float64), positions)
    width = x.shape[-1]
    q = k = x
    if config.content == "random":
        w_q, w_k = drawn(config.seed + 1, 2, width, width).double() / math.sqrt(width)
        q, k = x @ w_q, x @ w_k
    return (q @ k.mT / math.sqrt(width))[None], x


def _over_distance(scores: Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distances (2n-1,), and mean, lowest and highest score at each, (H, 2n-1)."""
    n = scores.shape[-1]
    distance = np.arange(-(n - 1), n)
    diagonals = [scores.diagonal(int(d), -2, -1) for d in distance]
    mean, low, high = (
        torch.stack([reduce(one) for one in diagonals], -1).numpy()
        for reduce in (lambda x: x.mean(-1), lambda x: x.amin(-1), lambda x: x.amax(-1))
    )
    return distance, mean, low, high


def _check(config: Config) -> None:
    require_within(config, {"width": (2, 512), "n": (2, MOST), "heads": (1, 64), "head": (0, config.heads - 1)})
    if config.kind not in KINDS:
        raise Problem("{kind} must be one of {allowed}", kind=config.kind, allowed=Several(KINDS))
