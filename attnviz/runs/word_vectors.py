"""Random vectors for words: on one page the same word and seed always give the same vector."""

from __future__ import annotations

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
    return drawn(_SEEDS[page](word, seed), width)


def drawn(seed: int, *shape: int) -> Tensor:
    """Standard normal numbers of this shape."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def _start_seed(word: str, seed: int) -> int:
    digest = hashlib.blake2b(f"{seed} {word.lower()}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big")


def _building_seed(word: str, seed: int) -> int:
    return zlib.crc32(word.lower().encode()) ^ (seed * 7919)


def _masks_seed(name: str, seed: int) -> int:
    """Upper and lower case differ, unlike on the other pages: the programs that the page shows use this very rule."""
    return zlib.crc32(f"{seed}/{name}".encode())


_SEEDS: dict[Family, Callable[[str, int], int]] = {
    "start": _start_seed,
    "building": _building_seed,
    "masks": _masks_seed,
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


def sentence(words: tuple[str, ...], seed: int = 0) -> Sentence:
    """Vectors for `words`: a word's vector depends on the word and the seed, not on its neighbours."""
    if not words:
        raise Problem("There is no word in the sentence: type at least one.")
    if len(words) > LONGEST:
        raise Problem("The sentence has {n} words; this page takes at most {limit}.", n=len(words), limit=LONGEST)
    x = torch.stack([word_vector(word, seed, WIDTH, "masks") for word in words])  # (T, M)
    w_q, w_k, w_v = (_projection(name, seed) for name in "qkv")
    return Sentence(words, seed, x, w_q, w_k, w_v)


def _projection(name: str, seed: int) -> Tensor:
    """A random matrix (M, D) that keeps the variance of a vector's components."""
    return drawn(_masks_seed(f"projection {name}", seed), WIDTH, WIDTH) / math.sqrt(WIDTH)
