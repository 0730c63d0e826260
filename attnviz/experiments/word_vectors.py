"""Random vectors for a sentence: the same word and seed always give the same vector."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.core.message import Problem

WIDTH = 16  #: M and D alike: small enough to read, wide enough that random scores behave
LONGEST = 128  #: words that a grid can be painted on


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


def split(text: str) -> tuple[str, ...]:
    """Words as a person separates them; Chinese and Japanese, written without spaces, by character."""
    words: list[str] = []
    for piece in text.split():
        word = ""
        for char in piece:
            if "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff":
                words += [word, char] if word else [char]
                word = ""
            else:
                word += char
        words += [word] if word else []
    return tuple(words)


def sentence(words: tuple[str, ...], seed: int = 0) -> Sentence:
    """Vectors for `words`: a word's vector hangs on the word and the seed alone, not on its neighbours."""
    if not words:
        raise Problem("There is no word in the sentence: type at least one.")
    if len(words) > LONGEST:
        raise Problem("The sentence has {n} words; this page takes at most {limit}.", n=len(words), limit=LONGEST)
    x = torch.stack([_draw(f"{seed}/{word}", WIDTH) for word in words])  # (T, M)
    w_q, w_k, w_v = (_draw(f"{seed}/projection {name}", WIDTH, WIDTH) / math.sqrt(WIDTH) for name in "qkv")
    return Sentence(words, seed, x, w_q, w_k, w_v)


def _draw(name: str, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(zlib.crc32(name.encode())))
