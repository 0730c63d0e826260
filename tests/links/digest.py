"""A digest of an array: a handful of numbers that change when the array changes, and that a person can read."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

CELLS = 5  #: single values that are kept, evenly spread from the first to the last
DIGITS = 7


def brief(number: float) -> float | int | None:
    """The number with as many digits as are compared; None where it is not finite."""
    if not np.isfinite(number):
        return None
    short = float(f"{number:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def digest(values: Any) -> dict[str, Any]:
    """Shape, the count of finite values, their sum, sum of magnitudes, sum weighted by index, and a few values."""
    array = np.asarray(values, np.float64)
    flat = array.ravel()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    at = np.linspace(0, flat.size - 1, min(CELLS, flat.size)).round().astype(int)
    return {
        "shape": list(array.shape),
        "finite": int(np.isfinite(flat).sum()),
        "sum": brief(finite.sum()),
        "size": brief(np.abs(finite).sum()),
        "placed": brief((finite * (np.arange(flat.size) + 1)).sum() / max(1, flat.size)),
        "cells": [brief(v) for v in flat[at]],
    }


def array_of(data: Any) -> NDArray[np.float64] | None:
    """The numbers of one side of a Plotly trace: a list, or what Plotly packs as base64. None where it holds words."""
    if isinstance(data, dict) and "bdata" in data:
        packed = np.frombuffer(base64.b64decode(data["bdata"]), np.dtype(data["dtype"]))
        sides = [int(n) for n in str(data.get("shape", packed.size)).split(",")]
        return packed.reshape(sides).astype(np.float64)
    try:
        return np.asarray(data, object).astype(np.float64)
    except (TypeError, ValueError):
        return None
