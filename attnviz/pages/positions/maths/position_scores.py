"""Position encodings, and the scores that come from positions alone.

Numbers that a model would learn are random. Scores are taken for each pair of positions, over the distance, and with
all positions shifted.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.word_vectors import random_normal
from attnviz.base.message import Message, Problem, require_one_of, require_within
from attnviz.core.positions import ALiBi, LearnedPositions, Position, Sinusoidal, T5Bias, alibi_slopes
from attnviz.core.rope import RoPE, frequencies
from attnviz.models.capture import learned_positions
from attnviz.models.catalogue import LoadedModel

#: Ids, in the order in which they are shown.
KINDS = ("none", "sinusoidal", "learned", "rope-half", "rope-interleaved", "alibi", "t5")
ENCODINGS = KINDS[1:]
ADDED = ("sinusoidal", "learned")  #: to the input, before queries and keys are projected from it
ROTATED = ("rope-half", "rope-interleaved")  #: queries and keys themselves
BIASED = ("alibi", "t5")  #: the scores
LONGEST = 512  #: positions in a learned table, as in BERT
BUCKETS = 32  #: distances that T5 tells apart
MOST = 256  #: positions in the picture
MODEL = "minilm-l6"  #: a packaged model that has learned vectors


def make_position(
    kind: str, width: int, n_heads: int, *, base: float = 10_000.0, seed: int = 0, bidirectional: bool = True
) -> Position:
    """The encoding `kind` for inputs of this width. Learned numbers are standard normal, from the seed."""
    makers: dict[str, Callable[[], Position]] = {
        "none": Position,
        "sinusoidal": lambda: Sinusoidal(base),
        "learned": lambda: with_table(LearnedPositions(LONGEST, width), random_normal(seed, LONGEST, width)),
        "rope-half": lambda: RoPE(base=base, pairing="half"),
        "rope-interleaved": lambda: RoPE(base=base, pairing="interleaved"),
        "alibi": lambda: ALiBi(n_heads),
        "t5": lambda: with_table(
            T5Bias(n_heads, bidirectional=bidirectional, buckets=BUCKETS), random_normal(seed, BUCKETS, n_heads)
        ),
    }
    return makers[require_one_of("kind", kind, KINDS)]()


def with_table(encoding: LearnedPositions | T5Bias, table: Tensor) -> Position:
    """Set these numbers as the table of `encoding`, in float64."""
    encoding.table.weight = torch.nn.Parameter(table.double(), requires_grad=False)
    return encoding


def trained_table(loaded: LoadedModel) -> np.ndarray:
    """The learned vectors of a model, (positions, M), float32."""
    table = learned_positions(loaded.model)
    if table is None:
        raise Problem("{model} has no learned positions", model=loaded.entry.name)
    return table.float().cpu().numpy()


@dataclass(frozen=True)
class Config:
    """One encoding and the sizes, content and seed of its scores."""

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
    """Scores of one encoding for all pairs of positions, and over the distance."""

    config: Config
    scores: np.ndarray  #: (n, n) what position alone adds to the scaled scores
    distance: np.ndarray  #: (2n-1,) key position minus query position
    mean: np.ndarray  #: (2n-1,) mean score at each distance
    low: np.ndarray
    high: np.ndarray
    shift_change: (
        float | Message
    )  #: the largest change of a score when all positions are shifted, or why that cannot be
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
    """Scores of all pairs of positions.

    `table` (positions, M): learned vectors of a trained model. None: random ones.
    """
    require_within(config, {"width": (2, 512), "n": (2, MOST), "heads": (1, 64), "head": (0, config.heads - 1)})
    require_one_of("kind", config.kind, ENCODINGS)
    learned = None if table is None else torch.from_numpy(table).double()
    positions = torch.arange(config.n)
    scores, encoding = scores_between(config, positions, learned)
    shifted: float | Message
    try:
        shifted = float((scores_between(config, positions + config.shift, learned)[0] - scores).abs().max())
    except Problem as problem:
        shifted = problem.message
    distance, mean, low, high = _measure_by_distance(scores)
    biased = config.kind in BIASED
    head = config.head if biased else 0
    turning = not biased and config.kind != "learned"
    return Result(
        config,
        scores[head].numpy().copy(),  # not a view, which would keep all heads
        distance,
        mean[head],
        low[head],
        high[head],
        shifted,
        None if encoding is None else encoding.numpy(),
        (2 * math.pi / frequencies(config.width, config.base)).numpy() if turning else None,
        mean if biased else None,
        alibi_slopes(config.heads).numpy() if config.kind == "alibi" else None,
    )


def scores_between(config: Config, positions: Tensor, table: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
    """Scores (1 or H, n, n) between these positions, and their encodings (n, D) or None.

    Added encodings are projected without any word; one query and one key are rotated to all positions.
    """
    encoding = make_position(
        config.kind, config.width, config.heads, base=config.base, seed=config.seed, bidirectional=config.bidirectional
    )
    width = config.width
    if table is not None:
        encoding, width = with_table(LearnedPositions(*table.shape), table), table.shape[1]
    bias = encoding.bias(positions, positions)
    if bias is not None:
        return bias.double(), None
    ones = torch.ones(1, len(positions), width, dtype=torch.float64)
    if config.kind in ROTATED:
        q = k = encoded = encoding.rotate(ones, positions)
        if config.content == "random":
            q, k = (
                encoding.rotate(vector.double() * ones, positions) for vector in random_normal(config.seed, 2, width)
            )
    else:
        q = k = encoded = encoding.add(0 * ones, positions)
        if config.content == "random":
            w_q, w_k = random_normal(config.seed + 1, 2, width, width).double() / math.sqrt(width)
            q, k = encoded @ w_q, encoded @ w_k
    return q @ k.mT / math.sqrt(width), encoded[0]


def _measure_by_distance(scores: Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Distances (2n-1,), and mean, lowest and highest score at each, (H, 2n-1)."""
    n = scores.shape[-1]
    distance = np.arange(-(n - 1), n)
    diagonals = [scores.diagonal(int(d), -2, -1) for d in distance]
    mean, low, high = (
        torch.stack([reduce(diagonal) for diagonal in diagonals], -1).numpy()
        for reduce in (lambda x: x.mean(-1), lambda x: x.amin(-1), lambda x: x.amax(-1))
    )
    return distance, mean, low, high


def program(config: Config, trained: bool = False) -> str:
    """Program that prints scores over the distance, and their change when all positions are shifted."""
    table = f"learned_positions(av.load({MODEL!r}).model).double()" if trained else "None"
    return f"""\

import math

import attnviz as av
import torch
from attnviz.core.positions import LearnedPositions
from attnviz.models.capture import learned_positions
from attnviz.pages.positions.maths.position_scores import ROTATED, Config, make_position, with_table
from attnviz.analysis.word_vectors import random_normal
from torch import Tensor


{inspect.getsource(scores_between)}

config, table = {config!r}, {table}
at = torch.arange(config.n)
found = scores_between(config, at, table)[0]
for back in sorted({{0, 1, config.n // 2, config.n - 1}}):
    mean = found[{config.head if config.kind in BIASED else 0}].diagonal(-back).mean().item()
    print(f"{{back:>4}} back: mean score {{mean:.4f}}")
try:
    shifted = (scores_between(config, at + config.shift, table)[0] - found).abs().max().item()
    print(f"all positions shifted by {{config.shift}}: scores change by up to {{shifted:.3g}}")
except ValueError as problem:
    shifted = None
    print(problem)
"""
