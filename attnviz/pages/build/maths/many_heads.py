"""Why several heads: a query that has to look at several words, with one head and with several.

With H=2, every word must carry the word before it in the first half of its output and the word
after it in the second half. A single softmax can only hand over a mixture
a*before + (1-a)*after, and no linear map after it can tell which was which: whatever a is, half of
the signal is lost. Two heads of half the width look at one neighbour each and lose nothing.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from attnviz.core.attention import attend

OFFSETS = (-1, 1, -2, 2)  #: where head 1, 2, 3, 4 look, counted from the query's own place
SHARES = np.arange(21) / 20  #: of the single head's weight for the first word, that are tried
NOTHING = 1e-9  # stands for a share of 0, whose logarithm would be infinite
SHARPNESS = 12.0  #: score of a place that is looked at; all other places score 0
SENTENCES = 800  #: random sentences on which the read-out is fitted and the blur measured


@dataclass(frozen=True)
class Config:
    words: tuple[str, ...] = ("the", "cat", "sat", "on", "the", "mat")
    d_model: int = 8  #: M: width of the one head, or of the H heads together
    n_heads: int = 2  #: H: how many words each query has to look at, 2 to 4
    share: float = 0.5  #: part of the single head's weight for the first word; the others share the rest


@dataclass(frozen=True)
class Result:
    """Blur is the part of the wanted signal's variance that the best linear read-out misses, 0 to 1."""

    one_head: np.ndarray  #: weights (Q, K) of the single head
    heads: np.ndarray  #: weights (H, Q, K)
    blur_one: np.ndarray  #: (H,) the single head's blur of each word looked at
    blur_heads: np.ndarray  #: (H,) the same with H heads
    blur_by_share: np.ndarray  #: (SHARES, H): the single head's blur of each word
    parameters: int  #: numbers in W_Q, W_K, W_V and W_O: the same for both


@lru_cache(maxsize=64)
def run(config: Config) -> Result:
    """Blur of one head of width M and of H heads of width M/H, on the same random word vectors."""
    offsets = OFFSETS[: config.n_heads]
    length = len(config.words)
    shape = (SENTENCES, length, config.d_model)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    # (H, Q, K): scores that point each query at the word so many places away, around the sentence's ends
    sharp = torch.stack([torch.eye(length, dtype=torch.float64).roll(o, 1) * SHARPNESS for o in offsets])
    one, brought_by_one = _attention(_mixed(sharp, config.share), x)
    several, brought = _attention(sharp, x)
    return Result(
        one_head=one[0].numpy(),
        heads=several.numpy(),
        blur_one=_blur(brought_by_one, x, offsets),
        blur_heads=_blur(brought, x, offsets),
        blur_by_share=np.stack([_blur(_attention(_mixed(sharp, a), x)[1], x, offsets) for a in SHARES]),
        parameters=4 * config.d_model**2,
    )


def _mixed(sharp: Tensor, share: float) -> Tensor:
    """Scores (1, Q, K) of one head that gives `share` to the first of the H places, the rest to the others."""
    heads = len(sharp)
    parts = torch.tensor([share] + [(1 - share) / (heads - 1)] * (heads - 1), dtype=sharp.dtype)
    logarithms = (parts + NOTHING).log().reshape(-1, 1, 1) * (sharp > 0)
    return (sharp + logarithms).sum(0, keepdim=True)


def _attention(scores: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (H, Q, K) and joined outputs (N, Q, M), from scores (H, Q, K) and words x (N, K, M) of N sentences.

    Keys are one-hot vectors and queries the rows of `scores`, so that q.kT is exactly `scores`.
    Each head takes the first M/H columns of x as its values.
    """
    heads, length, _ = scores.shape
    keys = torch.eye(length, dtype=scores.dtype).expand(1, heads, length, length)
    values = x[..., : x.shape[-1] // heads].unsqueeze(1).expand(-1, heads, -1, -1)  # (N, H, K, M/H)
    stages = attend(scores.unsqueeze(0), keys, values, scale=None)
    return stages.weights[0], stages.output.transpose(1, 2).flatten(2)


def _blur(brought: Tensor, x: Tensor, offsets: tuple[int, ...]) -> np.ndarray:
    """(H,): for each place looked at, the share of the variance of its M/H columns that the best linear map misses."""
    width = x.shape[-1] // len(offsets)
    seen = brought.flatten(0, 1)
    missed = []
    for offset in offsets:
        wanted = x[..., :width].roll(-offset, 1).flatten(0, 1)
        read_out = torch.linalg.lstsq(seen, wanted).solution
        missed.append(float((seen @ read_out - wanted).square().sum() / wanted.square().sum()))
    return np.array(missed)
