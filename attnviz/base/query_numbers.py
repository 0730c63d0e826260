"""All numbers behind one row of a head: vectors, scores' scale and weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ChangedWord:
    """The row's weights once key `at` is another word, and the names of the keys then."""

    at: int
    names: Sequence[str]
    weights: Sequence[float]


@dataclass(frozen=True, eq=False)
class QueryNumbers:
    """The numbers of one row of a head: vectors of its keys, and the weights of all rows."""

    tokens: Sequence[str]
    starts: Sequence[bool]  #: whether a blank stands before each token
    row: int
    x: NDArray[np.float32]  #: (K, D) the first numbers of the tokens' vectors
    q: NDArray[np.float32]  #: (D,)
    k: NDArray[np.float32]  #: (K, D)
    v: NDArray[np.float32]  #: (K, D)
    seen: NDArray[np.bool_]  #: (K,) True where the row may attend
    weights: NDArray[np.float32]  #: (K, K), -1 where masked
    scale: float
    changed: ChangedWord | None = None
