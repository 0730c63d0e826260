"""Helpers that the mask page's panels share: the words of the sentence, the paint, and how a word is quoted."""

from __future__ import annotations

import numpy as np

from attnviz.core.message import Problem
from attnviz.experiments.masks import mask_lab
from attnviz.experiments.word_vectors import LONGEST
from attnviz.ui.masks import mask_choices
from attnviz.ui.shared import link_state, quoted
from attnviz.word_boundaries import split


def repaint(base: np.ndarray, wanted: np.ndarray) -> None:
    """Keep what the visitor painted over `base`. A callback."""
    link_state.put(mask_choices.PAINT, mask_lab.painted(base, wanted) or mask_lab.Painted())


def unpaint() -> None:
    """Remove all paint. A callback."""
    link_state.put(mask_choices.PAINT, mask_lab.Painted())


def named(word: str) -> str:
    """A word of the visitor's sentence for use in one of the page's: italic, as typed, cut when it is very long."""
    return quoted(word if len(word) <= 30 else word[:28] + "…")


def words(text: str) -> tuple[str, ...]:
    """A sentence as words; Problem when there is none or too many."""
    found = split(text)
    if not found:
        raise Problem("There is no word in the sentence: type at least one.")
    if len(found) > LONGEST:
        raise Problem("The sentence has {n} words; this page takes at most {limit}.", n=len(found), limit=LONGEST)
    return found
