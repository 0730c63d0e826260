"""Digits of 8 x 8 counts: the held-out ones that are shipped, several side by side, and a visitor's drawing.

The counts are those of the data set that the two models learned from (scikit-learn's copy of the UCI Optical
Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak 1998, CC BY 4.0): a bitmap of 32 x 32 is divided into
blocks of 4 x 4, and the pixels that are on are counted in each.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from attnviz.base.limits import require_between
from attnviz.base.message import Message, Problem

FOLDER: Final = Path(__file__).parents[1] / "shipped"
FILE: Final = FOLDER / "held_out_digits.npz"
SIDE: Final = 8  #: counts along a side
DRAWN: Final = 32  #: pixels along the side of a drawing
BLOCK: Final = DRAWN // SIDE
WIDEST: Final = 24  #: pixels that a drawn digit takes across: those of the data set leave their sides empty
MOST: Final = 3  #: digits side by side


@dataclass(frozen=True, eq=False)
class Digits:
    """Held-out pictures (N, 8, 8) in counts from 0 to 16, and which digit each is (N,)."""

    pictures: np.ndarray
    said: np.ndarray

    def like(self, digit: int, number: int = 0) -> int:
        """The place of the `number`-th picture of a digit; after the last one comes the first again."""
        require_between("digit", digit, 0, 9)
        places = np.flatnonzero(self.said == digit)
        return int(places[number % len(places)])


@cache
def held_out() -> Digits:
    """The fifth of the data set that neither model has learned from."""
    with np.load(FILE) as held:
        return Digits(held["pictures"], held["said"])


def composed(pictures: Sequence[np.ndarray], width: int = MOST) -> np.ndarray:
    """Digits (8, 8) side by side, (8, 8 * width), with nothing to the right of the last."""
    if not 1 <= len(pictures) <= width:
        raise Problem("{count} digits do not fit; between 1 and {most} do", count=len(pictures), most=width)
    return np.hstack([*pictures, np.zeros((SIDE, SIDE * (width - len(pictures))), np.uint8)]).astype(np.uint8)


def counts_of_drawing(bitmap: np.ndarray) -> np.ndarray:
    """A drawing (32, 32), True where there is ink, as the data set prepares its own: (8, 8) counts from 0 to 16.

    What is drawn is first stretched to the full height and moved to the middle, as the data set's own digits are.
    """
    bitmap = np.asarray(bitmap, bool)
    if bitmap.shape != (DRAWN, DRAWN):
        raise Problem("a drawing has {shape} pixels; it must have 32 × 32", shape=" × ".join(map(str, bitmap.shape)))
    if not bitmap.any():
        return np.zeros((SIDE, SIDE), np.uint8)
    return filled(bitmap).reshape(SIDE, BLOCK, SIDE, BLOCK).sum((1, 3)).astype(np.uint8)


def filled(bitmap: np.ndarray) -> np.ndarray:
    """The ink stretched to the whole height, in the middle; a stroke that is very thin keeps its width."""
    rows, columns = np.flatnonzero(bitmap.any(1)), np.flatnonzero(bitmap.any(0))
    cut = bitmap[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    times = min(DRAWN / cut.shape[0], WIDEST / cut.shape[1])
    size = max(1, round(cut.shape[1] * times)), max(1, round(cut.shape[0] * times))
    stretched = np.asarray(Image.fromarray(cut.astype(np.uint8) * 255).resize(size, Image.Resampling.BILINEAR)) >= 128
    whole = np.zeros((DRAWN, DRAWN), bool)
    top, left = (DRAWN - size[1]) // 2, (DRAWN - size[0]) // 2
    whole[top : top + size[1], left : left + size[0]] = stretched
    return whole


def card(model: str) -> Message | None:
    """The figures that training wrote beside a model's weights, in a sentence; None for a model that is not ours."""
    file = FOLDER / model / "figures.json"
    if not file.is_file():
        return None
    figures = json.loads(file.read_text("utf-8"))
    if "exact" in figures:
        return Message(
            "This model writes {pairs} of pairs and {triples} of triples of digits that it has not learned from "
            "without a fault. Data (UCI digits, as scikit-learn has them) and weights: CC BY 4.0.",
            {name: f"{share:.1%}" for name, share in figures["exact"].items()},
        )
    return Message(
        "This model is right on {held_out} of a held-out fifth of its data, and on {last} of the last 360 pictures, "
        "which other hands wrote. Data (UCI digits, as scikit-learn has them) and weights: CC BY 4.0.",
        {"held_out": f"{figures['held_out_fifth']:.1%}", "last": f"{figures['last_360']:.1%}"},
    )
