"""Random word vectors, fixed by page, word and seed."""

import hashlib
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attnviz.base.message import Problem

WIDTH = 16  #: M and D alike: small enough to read, wide enough that random scores behave
LONGEST = 128  #: most words in a sentence: with more, the cells of a grid are too small to paint

Family = Literal["start", "building", "masks"]


def word_vector(word: str, seed: int, width: int, page: Family) -> Tensor:
    """A vector (width,) from the standard normal distribution that depends only on the arguments.

    Each page has its own rule for turning a word and a seed into the seed of the random generator. The rules
    must not change: a link shows the numbers that it showed when it was copied.
    """
    return random_normal(_SEEDS[page](word, seed), width)


def random_normal(seed: int, *shape: int) -> Tensor:
    """Standard normal numbers of this shape."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


_SEEDS: dict[Family, Callable[[str, int], int]] = {
    "start": lambda word, seed: int.from_bytes(
        hashlib.blake2b(f"{seed} {word.lower()}".encode(), digest_size=7).digest(), "big"
    ),
    "building": lambda word, seed: zlib.crc32(word.lower().encode()) ^ (seed * 7919),
    # upper and lower case differ, unlike on the other pages: the programs that the page shows use this very rule
    "masks": lambda name, seed: zlib.crc32(f"{seed}/{name}".encode()),
}


@dataclass(frozen=True)
class Sentence:
    """T words with random vectors: x (T, M), three random projections (M, D), and q, k, v (T, D)."""

    words: tuple[str, ...]
    seed: int
    x: Tensor
    w_q: Tensor
    w_k: Tensor
    w_v: Tensor

    @property
    def q(self) -> Tensor:
        return self.x @ self.w_q

    @property
    def k(self) -> Tensor:
        return self.x @ self.w_k

    @property
    def v(self) -> Tensor:
        return self.x @ self.w_v

    @property
    def scores(self) -> Tensor:
        """Scaled scores q.kT / sqrt(D), (T, T)."""
        return self.q @ self.k.T / math.sqrt(WIDTH)

    def __len__(self) -> int:
        return len(self.words)


def check_word_count(words: tuple[str, ...]) -> None:
    """A Problem for a sentence without words, or with more than there is room for."""
    if not words:
        raise Problem("There is no word in the sentence: type at least one.")
    if len(words) > LONGEST:
        raise Problem("The sentence has {n} words; this page takes at most {limit}.", n=len(words), limit=LONGEST)


def sentence(words: tuple[str, ...], seed: int = 0) -> Sentence:
    """Vectors for `words`: a word's vector depends on the word and the seed, not on its neighbours."""
    check_word_count(words)
    x = torch.stack([word_vector(word, seed, WIDTH, "masks") for word in words])  # (T, M)
    # random matrices (M, D) that keep the variance of a vector's components
    projections = (word_vector(f"projection {name}", seed, WIDTH**2, "masks").view(WIDTH, WIDTH) for name in "qkv")
    return Sentence(words, seed, x, *(matrix / math.sqrt(WIDTH) for matrix in projections))
