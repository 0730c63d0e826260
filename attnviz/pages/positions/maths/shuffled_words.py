"""Words in another order: without positions, attention gives each word the same output as before."""

import math
import zlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.word_vectors import random_normal, word_vector
from attnviz.base.message import MessageList, Problem
from attnviz.core import masks
from attnviz.core.attention import Stages, attend
from attnviz.core.positions import Position
from attnviz.core.projections import join_heads, split_heads
from attnviz.pages.positions.maths.position_scores import KINDS, make_position

WIDTH = 32  #: M
HEADS = 4  #: H, each 8 wide
LONGEST = 48  #: most words: with more, the cells of the two pictures are too small to compare
ORDERS = ("reverse", "shuffle")


@dataclass(frozen=True)
class Config:
    """The sentence, the kind of positions, the other order and the mask."""

    words: tuple[str, ...]
    kind: str = "none"  #: of position_scores.KINDS
    order: str = "reverse"
    causal: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """Weights and outputs in both orders."""

    config: Config
    order: np.ndarray  #: (T,) which word of the sentence stands at each place of the other order
    words: tuple[str, ...]  #: in the other order
    before: np.ndarray  #: (T, T) weights of the first head
    after: np.ndarray  #: the same words' weights in the other order, sorted back: row i is the same word as in `before`
    output_change: np.ndarray  #: (T,) largest change of each word's output, for each word of the sentence
    largest: float  #: the largest number in any output
    every: dict[str, tuple[float, float]]  #: of each kind: the largest change without a mask, and with a causal one

    @property
    def change(self) -> float:
        """The largest change in any number of any word's output."""
        return float(self.output_change.max())

    @property
    def is_unchanged(self) -> bool:
        """Whether the outputs are the same but for rounding, in float64."""
        return self.change < 1e-9


def run(config: Config) -> Result:
    """Attend over the words in both orders, with the same weights."""
    if len(config.words) < 2:
        raise Problem("One word has no order: type at least two.")
    if len(config.words) > LONGEST:
        raise Problem(
            "The sentence has {n} words; this page takes at most {limit}.", n=len(config.words), limit=LONGEST
        )
    order = word_order(config.order, len(config.words), config.seed)
    inverse = order.argsort()
    x, projections = make_inputs(config.words, config.seed)

    def attend_both(kind: str, causal: bool) -> tuple[Stages, Stages, Tensor]:
        """Stages in either order, and for each word the largest change in its output, (T,)."""
        encoding = make_position(kind, WIDTH, HEADS, seed=config.seed)
        before, after = (attention(inputs, encoding, projections, causal) for inputs in (x, x[order]))
        return before, after, (join_heads(after.output)[inverse] - join_heads(before.output)).abs().amax(-1)

    before, after, output_change = attend_both(config.kind, config.causal)
    return Result(
        config,
        order.numpy(),
        tuple(config.words[i] for i in order.tolist()),
        before.weights[0].numpy(),
        after.weights[0][inverse][:, inverse].numpy(),
        output_change.numpy(),
        float(before.output.abs().max()),
        {kind: (float(attend_both(kind, False)[2].max()), float(attend_both(kind, True)[2].max())) for kind in KINDS},
    )


def word_order(name: str, n: int, seed: int) -> Tensor:
    """Indices (n,) of the words in the other order. Raises Problem for an unknown name."""
    places = torch.arange(n)
    if name == "reverse":
        return places.flip(0)
    if name == "shuffle":
        return torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    raise Problem("{order} must be one of {allowed}", order=name, allowed=MessageList(ORDERS))


def make_inputs(words: tuple[str, ...], seed: int) -> tuple[Tensor, list[Tensor]]:
    """Inputs x (T, M), equal for equal words, and the projections of q, k and v, each (M, M)."""
    x = torch.stack([word_vector(word, seed, WIDTH, "masks") for word in words]).double()
    seeds = [zlib.crc32(f"{seed}/{name}".encode()) for name in "qkv"]
    return x, [random_normal(projection_seed, WIDTH, WIDTH).double() / math.sqrt(WIDTH) for projection_seed in seeds]


def attention(x: Tensor, encoding: Position, projections: list[Tensor], causal: bool) -> Stages:
    """Attention of the words x (T, M) at positions 0 to T-1."""
    n = len(x)
    positions = torch.arange(n)
    with_positions = encoding.add(x, positions)
    q, k, v = (split_heads(with_positions @ w, HEADS) for w in projections)  # (H, T, D)
    q, k = encoding.rotate(q, positions), encoding.rotate(k, positions)
    return attend(q, k, v, masks.causal(n, n) if causal else None, bias=encoding.bias(positions, positions))
