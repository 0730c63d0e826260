"""A visitor's words as numbers of the small model's vocabulary, twice; and when the second copy is predicted."""

from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
import torch

from attnviz.base.message import Problem
from attnviz.base.word_boundaries import split
from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.repeats import Config, Sequences


@dataclass(frozen=True)
class Copies:
    """Two copies of some words: as typed, and as numbers of the vocabulary."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]


def copies_of(text: str, config: Config) -> Copies:
    """Each different word has the number that its letters give, or the next that is free; capitals do not matter."""
    words = split(text)
    fewest, most = config.lags
    if not fewest <= len(words) <= most:
        raise Problem(
            "{count} words were typed; the model takes {fewest} to {most}", count=len(words), fewest=fewest, most=most
        )
    numbers: dict[str, int] = {}
    for word in map(str.casefold, words):
        number = crc32(word.encode()) % config.words
        while word not in numbers and number in numbers.values():
            number = (number + 1) % config.words
        numbers.setdefault(word, number)
    return Copies(words * 2, tuple(numbers[word.casefold()] for word in words) * 2)


@lru_cache(maxsize=256)
def share_right(name: str, copies: Copies) -> np.ndarray:
    """(kept,): at each kept step of a run, the share of the second copy's words but its first that are predicted."""
    tokens = torch.tensor([copies.ids])
    known = torch.arange(len(copies.ids) - 1)[None] >= len(copies.ids) // 2
    return life.read(name).looks(Sequences(tokens, known))[:, 1]


def learned_at(name: str, copies: Copies) -> int | None:
    """The first kept step from which at least half of the second copy is always predicted; None where it never is."""
    return life.lasting(life.read(name).steps, share_right(name, copies))
