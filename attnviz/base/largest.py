"""The largest of several numbers, and whether it is clearly larger than all others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

_ALIKE = 1e-5  #: of the largest size: numbers as near as this differ by the order in which they were added


@dataclass(frozen=True)
class Largest:
    """The largest of several numbers."""

    at: tuple[int, ...]  #: its index along each axis: the first, where several are as large
    value: float
    alone: bool  #: whether all others are smaller: only then is it "most", "more than any other"

    @property
    def index(self) -> int:
        """Its index along the first axis."""
        return self.at[0]


def find_largest(values: ArrayLike) -> Largest:
    """The largest of `values` (one number or more); NaN is ignored.

    A single number is not alone at the top: it has nothing to be larger than.
    """
    numbers = np.nan_to_num(np.asarray(values, float), nan=-np.inf)
    at = np.unravel_index(int(numbers.argmax()), numbers.shape)
    largest = float(numbers[at])
    others = np.delete(numbers, int(numbers.argmax()))
    margin = largest - float(others.max(initial=-np.inf))
    alone = bool(np.isfinite(others).any()) and margin > _ALIKE * max(
        abs(largest), float(np.abs(others[np.isfinite(others)]).max())
    )
    return Largest(tuple(int(i) for i in at), largest, alone)
