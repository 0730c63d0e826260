"""What a canvas shows of a head that came before its softmax: what a browser must come to, by another hand."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Sections:
    """The sections of a payload, one after the other."""

    def __init__(self, payload: bytes) -> None:
        self.payload, self.at = payload, 0

    def take(self, count: int) -> bytes:
        found = self.payload[self.at : self.at + count]
        self.at += count
        return found

    def floats(self, *shape: int) -> Array:
        return np.frombuffer(self.take(4 * int(np.prod(shape))), "<f4").reshape(shape).astype(np.float64)

    def bits(self, *shape: int) -> Array:
        count = int(np.prod(shape))
        return np.unpackbits(np.frombuffer(self.take(-(-count // 8)), np.uint8), count=count).reshape(shape) > 0


def values_on_show(header: dict[str, Any], payload: bytes) -> Array:
    """The matrix as drawn, NaN where masked: before the change, after it, or the difference."""
    edit = header["edit"]
    before = _arranged(header, payload, None)
    if edit is None or edit["seen"] == "before":
        return before
    after = _arranged(header, payload, edit)
    if edit["seen"] == "after":
        return after
    both = np.isnan(before) & np.isnan(after)
    return np.where(both, np.nan, np.nan_to_num(after) - np.nan_to_num(before))


def _arranged(header: dict[str, Any], payload: bytes, edit: dict[str, Any] | None) -> Array:
    weights, mask = _weights(header["raw"]["scores"], payload, edit)
    how = header["raw"]["arranged"]
    if how["norms"]:
        weights = weights * np.frombuffer(payload[-4 * weights.shape[1] :], "<f4")
    rows, cols = (_joining(how[name], n) for name, n in zip(("rows", "cols"), weights.shape, strict=True))
    values, seen = rows @ weights @ cols.T, rows @ mask @ cols.T
    if how["merged"]:
        values = values / rows.sum(1, keepdims=True)
    if how["renormalise"]:
        total = values.sum(1, keepdims=True)
        values = values / np.where(total == 0, 1, total)
    return np.where(seen > 0, values, np.nan)


def _joining(groups: list[list[int]] | None, n: int) -> Array:
    """(entries, n): 1 where an entry covers a position."""
    groups = [[i] for i in range(n)] if groups is None else groups
    return np.array([[i in group for i in range(n)] for group in groups], float)


def _weights(raw: dict[str, Any], payload: bytes, edit: dict[str, Any] | None) -> tuple[Array, Array]:
    sections, (n_q, n_k) = Sections(payload), raw["shape"]
    if raw["vectors"]:
        q = sections.floats(n_q, raw["width"])
        scores = q @ sections.floats(n_k, raw["width"]).T
    else:
        scores = sections.floats(n_q, n_k)
    mask = sections.bits(n_q, n_k)
    real = sections.bits(n_k) if raw["padding"] else np.ones(n_k, bool)
    bias = None if raw["bias"] is None else sections.floats(n_q, n_k)
    sink = sections.floats(1)[0] if raw["sinks"] else -np.inf
    factor = raw["scale"]
    if edit is not None:
        mask = _changed_mask(edit, mask, real)
        factor = _changed_scale(edit, raw)
    scaled = scores * factor + (0 if bias is None else bias)
    if raw["softcap"] is not None:
        scaled = raw["softcap"] * np.tanh(scaled / raw["softcap"])
    top = np.maximum(np.where(mask, scaled, -np.inf).max(1, keepdims=True), sink)
    shares = np.where(mask, np.exp(scaled - np.where(np.isfinite(top), top, 0)), 0)
    total = shares.sum(1, keepdims=True) + np.exp(sink - np.where(np.isfinite(top), top, 0))
    return np.where(mask.any(1, keepdims=True), shares / np.where(total == 0, 1, total), 0), mask


def _changed_mask(edit: dict[str, Any], own: Array, real: Array) -> Array:
    (n_q, n_k), window = own.shape, edit["window"]
    behind = np.arange(n_q)[:, None] + n_k - n_q - np.arange(n_k)  # how far a key lies behind its query
    painted = np.unpackbits(np.frombuffer(base64.b64decode(edit["painted"]), np.uint8))[: n_q * n_k]
    patterns = {
        "model": own,
        "none": np.ones_like(own),
        "causal": behind >= 0,
        "window": (behind >= 0) & (behind < window),
        "painted": painted.reshape(n_q, n_k) > 0 if painted.size == n_q * n_k else own,
    }
    kept = real.copy()
    kept[[key for key in edit["hidden"] if key < n_k]] = False
    return patterns[edit["mask"]] & kept


def _changed_scale(edit: dict[str, Any], raw: dict[str, Any]) -> float:
    scales = {
        "model": raw["scale"],
        "none": 1.0,
        "inverse": 1 / max(raw["width"], 1),
        "factor": raw["scale"] * edit["factor"],
    }
    return float(scales[edit["scale"]])


def sentence(header: dict[str, Any], values: Array) -> str:
    """What stands below the head: which keys the pinned row, or the one that tells most, looks at most."""
    about, pins = header["sentence"], header["pins"] or {"tokens": [], "cell": None}
    if about is None or (header["edit"] or {}).get("seen") == "difference":
        return ""
    pinned = [i for axis, i in pins["tokens"] if axis == "q"]
    row = pins["cell"][0] if pins["cell"] else pinned[-1] if pinned else about["row"]
    row = min(row, len(values) - 1)
    rows, cols = header["q"], header["k"] or header["q"]
    seen = [(-value, k) for k, value in enumerate(values[row]) if not np.isnan(value)]
    worth = [(-low, k) for low, k in sorted(seen)[:3] if -low >= about["least"]]
    fields: dict[str, Any] = {"token": _named(rows, about["places"][0], row)}
    for place, (value, k) in enumerate(worth, 1):
        fields |= {f"key{place}": _named(cols, about["places"][1], k), f"share{place}": float(value)}
    template = about["templates"][len(worth) - 1 if worth else 4 if seen else 3]
    return str(template).format(**fields)


def _named(labels: list[str], places: list[int], i: int) -> str:
    return labels[i] if labels.count(labels[i]) == 1 else f"{labels[i]} ({places[i]})"
