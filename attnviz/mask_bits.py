"""A boolean grid as bytes: how a painted mask stands in a link and travels to the browser. Knows nobody."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def pack_bits(grid: NDArray[np.bool_]) -> bytes:
    """A boolean grid, row by row, eight cells a byte, the first cell in the highest bit."""
    return np.packbits(np.asarray(grid, bool)).tobytes()


def unpack_bits(data: bytes, shape: Sequence[int]) -> NDArray[np.bool_]:
    """The grid of `pack_bits`; ValueError if the length does not fit the shape."""
    rows, cols = shape
    if len(data) != -(-rows * cols // 8):
        raise ValueError(f"{len(data)} bytes do not hold {rows} x {cols} cells")
    return np.unpackbits(np.frombuffer(data, np.uint8), count=rows * cols).reshape(rows, cols).astype(bool)
