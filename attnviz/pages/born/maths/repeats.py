"""The task and the model: words that come a second time, and a few layers of attention and nothing else that read them.

The model's numbers lie in one vector, (N,): the embedding (V, M), of each layer W_Q, W_K and W_V (M, H*D) and W_O
(H*D, M), and the unembedding (M, V), row by row. The browser cuts them in the same order (`canvas/birth/forward.js`).
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate, pairwise, product

import torch
from torch import Tensor

from attnviz.base.message import require_within
from attnviz.core import masks
from attnviz.core.attention import Scale, attend
from attnviz.core.projections import join_heads, split_heads
from attnviz.core.rope import RoPE

Silenced = Collection[tuple[int, int]]  #: layer and head of each
SPREAD = 0.5  #: of the embedding at the start
LIMITS = {"seed": (0, 9999), "steps": (1, 20_000), "layers": (1, 4), "heads": (1, 8)}


@dataclass(frozen=True)
class Config:
    words: int = 64  #: V, the vocabulary
    length: int = 48  #: T, tokens of a sequence
    lags: tuple[int, int] = (4, 24)  #: the shortest and the longest copy, in words
    held_out: tuple[int, ...] = (6, 11, 17, 22)  #: lengths of copies that are never trained on
    width: int = 48  #: M
    layers: int = 2
    heads: int = 3  #: H, in each layer
    d_head: int = 16  #: D
    base: float = 100.0  #: of the rotary positions
    causal: bool = True
    scaled: bool = True  #: whether scores are divided by the square root of D
    blurred: bool = False  #: whether layer 0 gives every token that it may look at the same weight
    steps: int = 1500
    batch: int = 32  #: sequences in a step
    rate: float = 5e-3  #: of Adam
    betas: tuple[float, float] = (0.9, 0.99)
    seed: int = 1

    def __post_init__(self) -> None:
        require_within(self, LIMITS)

    @property
    def trained_on(self) -> tuple[int, ...]:
        """Lengths of copies that it is trained on."""
        return tuple(lag for lag in range(self.lags[0], self.lags[1] + 1) if lag not in self.held_out)

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Layer and head of all heads."""
        return tuple(product(range(self.layers), range(self.heads)))

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The shapes of its matrices, in their order."""
        inside = self.heads * self.d_head
        layer = [(self.width, inside)] * 3 + [(inside, self.width)]
        return ((self.words, self.width), *(layer * self.layers), (self.width, self.words))


def matrices(numbers: Tensor, config: Config) -> list[Tensor]:
    """The matrices that a vector (N,) holds."""
    ends = accumulate((rows * cols for rows, cols in config.shapes), initial=0)
    return [numbers[a:b].view(shape) for (a, b), shape in zip(pairwise(ends), config.shapes, strict=True)]


def untrained(config: Config) -> Tensor:
    """The vector (N,) that a run starts from: normal numbers, the embedding's of SPREAD, others of 1/sqrt(rows)."""
    drawn = torch.Generator().manual_seed(config.seed)
    made = [torch.randn(shape, generator=drawn) / shape[0] ** 0.5 for shape in config.shapes]
    made[0] *= SPREAD * config.words**0.5
    return torch.cat([matrix.flatten() for matrix in made])


@dataclass(frozen=True)
class Sequences:
    """Sequences (B, T): somewhere a copy and the same copy again, fillers around. No other word comes twice."""

    tokens: Tensor
    known: Tensor  #: (B, T - 1), whether the word after this one is of the second copy, and not its first


def sequences(count: int, lags: tuple[int, ...], config: Config, drawn: torch.Generator) -> Sequences:
    """Draw sequences with copies of these lengths."""
    order = torch.rand(count, config.words, generator=drawn).argsort(1)
    lag = torch.tensor(lags)[torch.randint(len(lags), (count, 1), generator=drawn)]
    first = (torch.rand(count, 1, generator=drawn) * (config.length - 2 * lag + 1)).long()
    at = torch.arange(config.length)
    place = at - first  # from the beginning of the first copy
    filler = torch.where(place < 0, at + lag, at - lag)  # words that no copy has
    word = torch.where((place >= 0) & (place < 2 * lag), place % lag, filler)
    return Sequences(order.gather(1, word), ((place >= lag) & (place < 2 * lag - 1))[:, :-1])


def forward(numbers: Tensor, tokens: Tensor, config: Config, silenced: Silenced = ()) -> tuple[Tensor, list[Tensor]]:
    """Logits (B, T, V) of tokens (B, T), and of each layer the weights (B, H, T, T).

    Of a `silenced` head the output is 0.
    """
    embedding, *inside, unembedding = matrices(numbers, config)
    mask = masks.causal(tokens.shape[-1]) if config.causal else None
    rope, places = RoPE(base=config.base), torch.arange(tokens.shape[-1])
    x, weights = embedding[tokens], []
    for layer in range(config.layers):
        w_q, w_k, w_v, w_o = inside[4 * layer : 4 * layer + 4]
        q, k, v = (split_heads(x @ w, config.heads) for w in (w_q, w_k, w_v))  # (B, H, T, D)
        scale: Scale = 0.0 if config.blurred and layer == 0 else "sqrt" if config.scaled else None
        stages = attend(rope.rotate(q, places), rope.rotate(k, places), v, mask, scale)
        heard = torch.tensor([float((layer, head) not in silenced) for head in range(config.heads)])
        x = x + join_heads(stages.output * heard[:, None, None]) @ w_o
        weights.append(stages.weights)
    return x @ unembedding, weights
