"""Heads under masks and scales as Python's `attend` computes them: attend.js, edit.js, head_numbers.js, tiles.js."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attnviz.analysis import what_if
from attnviz.base.head_edit import HeadEdit, ids
from attnviz.base.packed import pack_bits
from attnviz.canvas.shared import packing
from attnviz.core.attention import attend
from attnviz.models.capture import RecordedLayer
from attnviz.models.tokens import MatrixAxis, project_weights

#: (queries, keys, spread of the scores, mask, bias, soft-cap, sink, factor)
HEADS = (
    (1, 1, 1.0, "none", "none", None, None, 0.125),
    (7, 7, 8.0, "causal", "none", None, None, 0.125),
    (13, 9, 8.0, "causal", "none", None, None, 1.0),
    (11, 16, 60.0, "random", "infinite", 50.0, None, 0.0625),
    (16, 16, 8.0, "random", "finite", 20.0, -3.0, 0.125),
    (8, 8, 1e4, "causal", "none", None, 100.0, 10.0),
    (6, 40, 3e36, "random", "none", None, None, 0.125),
    (6, 40, 1e-30, "random", "none", None, None, 10.0),
    (5, 5, 8.0, "all", "none", None, 0.0, 0.125),
    (10, 10, 8.0, "causal", "none", None, None, 0.0),
)


def attend_cases() -> list[dict[str, Any]]:
    """Heads of many kinds: what the browser is sent of each, and the weights it must come to."""
    rng = np.random.default_rng(512)
    return [_head(rng, given) for given in HEADS]


def _head(rng: np.random.Generator, given: tuple[Any, ...]) -> dict[str, Any]:
    """Scores are drawn, not q and k: keys of the identity make q.kT exactly them."""
    n_q, n_k, spread, hides, biased, softcap, sink, factor = given
    scores = torch.from_numpy(rng.normal(0, spread, (n_q, n_k)).astype(np.float32))
    mask = _mask(rng, hides, n_q, n_k)
    bias = None if biased == "none" else torch.from_numpy(rng.normal(0, 2, (n_q, n_k)).astype(np.float32))
    if biased == "infinite":
        assert bias is not None
        bias[torch.from_numpy(rng.random((n_q, n_k)) < 0.4)] = -torch.inf
        bias[0] = -torch.inf  # a row that the bias alone empties
    sinks = None if sink is None else torch.tensor([sink])
    unit = torch.eye(n_k)[None]
    made = attend(scores[None], unit, unit, mask, factor, bias, softcap, sinks)
    return {
        "shape": [n_q, n_k],
        "scores": numbers(scores),
        "mask": None if mask is None else flags(mask),
        "bias": None if bias is None else [None if b == -torch.inf else digits(b) for b in bias.ravel().tolist()],
        "softcap": softcap,
        "sink": sink,
        "factor": factor,
        "weights": numbers(made.weights[0]),
    }


def _mask(rng: np.random.Generator, hides: str, n_q: int, n_k: int) -> torch.Tensor | None:
    if hides == "none":
        return None
    if hides == "causal":
        return torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q)
    mask = torch.from_numpy(rng.random((n_q, n_k)) < (0.6 if hides == "random" else 0.0))
    mask[n_q // 2] = False  # an empty row
    return mask


#: what a visitor may ask of a head, everything at least once
EDITS = (
    HeadEdit(),
    HeadEdit("causal"),
    HeadEdit("window", window=1),
    HeadEdit("window", window=64, hidden=(2,)),
    HeadEdit("model", hidden=(0, 5)),
    HeadEdit("none", hidden=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
    HeadEdit("painted", hidden=(1,), scale="inverse"),
    HeadEdit("causal", scale="none"),
    HeadEdit("model", scale="factor", factor=9.7),
    HeadEdit("model", scale="factor", factor=0.0),
)


def edit_cases() -> dict[str, Any]:
    """What an edit may choose, and three layers under many edits: mask, factor, weights, words, the small picture."""
    rng = np.random.default_rng(64)
    layers = [_layer(rng, "decoder", 9, 9), _layer(rng, "padded", 9, 9), _layer(rng, "cross", 6, 11)]
    return {"ids": ids(), "layers": [_described(rng, layer) for layer in layers]}


def _layer(rng: np.random.Generator, kind: str, n_q: int, n_k: int) -> RecordedLayer:
    q, k, v = (torch.from_numpy(quarters(rng, 1, 1, n, 8, spread=2).astype(np.float32)) for n in (n_q, n_k, n_k))
    real = torch.ones(1, 1, 1, n_k, dtype=torch.bool)
    if kind == "padded":
        real[..., -2:] = False
    extras = {"softcap": 5.0, "sinks": torch.tensor([0.3])} if kind == "cross" else {}
    allowed = {
        "decoder": None,
        "padded": real & torch.ones(n_q, n_k, dtype=torch.bool).tril(),
        "cross": torch.from_numpy(rng.random((1, 1, n_q, n_k)) < 0.8),
    }[kind]
    return RecordedLayer(
        "decoder",
        "cross" if kind == "cross" else "self",
        0,
        kind,
        0.3,
        q,
        k,
        v,
        allowed,
        causal=kind == "decoder",
        padding=real if kind == "padded" else None,
        norms=torch.from_numpy(rng.uniform(0.1, 3, (1, 1, n_k)).astype(np.float32)),
        **extras,  # type: ignore[arg-type]
    )


def _described(rng: np.random.Generator, layer: RecordedLayer) -> dict[str, Any]:
    norms = layer.value_norms()[0, 0]
    stages = layer.stages(0)
    n_q, n_k = layer.shape[2:]
    painting = rng.random((n_q, n_k)) < 0.5
    groups = (_groups(n_q), _groups(n_k))
    return {
        "shape": [n_q, n_k],
        "scores": numbers(stages.scores),
        "scale": layer.scale,
        "dHead": 8,
        "bias": None,
        "softcap": layer.softcap,
        "sink": None if layer.sinks is None else digits(float(layer.sinks[0])),
        "mask": flags(layer.mask.expand(1, 1, n_q, n_k)),
        "padding": None if layer.padding is None else flags(layer.padding),
        "painted": painting.ravel().astype(int).tolist(),
        "norms": numbers(norms),
        "groups": [list(map(list, axis.positions)) for axis in groups],
        "edits": [_edited(layer, change, painting, norms, groups) for change in EDITS],
    }


def _groups(n: int) -> MatrixAxis:
    """The first token left out, the next two joined, the last two joined, the others alone."""
    positions = ((1, 2), *((i,) for i in range(3, n - 2)), (n - 2, n - 1))
    blank = tuple("" for _ in positions)
    return MatrixAxis(blank, positions, (0,) * len(blank), merged=True, hidden=1)


def _edited(
    layer: RecordedLayer,
    change: HeadEdit,
    painting: np.ndarray,
    norms: torch.Tensor,
    groups: tuple[MatrixAxis, MatrixAxis],
) -> dict[str, Any]:
    change = replace(change, painted=pack_bits(painting))
    mask, scale = what_if.mask_of(change, layer), what_if.scale_of(change, layer)
    weights = layer.weights(0, mask, scale)[0, 0]
    may = layer.mask_for(mask).expand(1, 1, *weights.shape)[0, 0]
    joined = project_weights(weights * norms, *groups, renormalise=False)
    return {
        "mask": change.mask,
        "window": change.window,
        "hidden": list(change.hidden),
        "scale": change.scale,
        "factor": change.factor,
        "may": flags(may),
        "weights": numbers(weights),
        "words": numbers(project_weights(weights, *groups, renormalise=True)),
        "values": numbers(joined),
        "unseen": flags(project_weights(may.float(), *groups) == 0),
        "tile": packing.make_thumbnails(weights.numpy(), ~may.numpy(), 4).ravel().tolist(),
    }


def quarters(rng: np.random.Generator, *shape: int, spread: float = 1) -> np.ndarray:
    """Normal numbers of this spread, rounded to quarters."""
    return np.rint(rng.normal(0, 4 * spread, shape)) / 4


def flags(tensor: torch.Tensor) -> list[int]:
    """Ones and zeros, row by row."""
    return tensor.int().ravel().tolist()


def numbers(tensor: torch.Tensor) -> list[float]:
    """Nine digits, which name a 32-bit number exactly."""
    return [digits(value) for value in tensor.ravel().tolist()]


def digits(value: float, many: int = 9) -> float:
    """`value` to so many digits."""
    return float(f"{value:.{many}g}")
