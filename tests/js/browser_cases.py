"""Write cases that Python computes and JavaScript must reproduce: `python -m tests.js.browser_cases [NAME ...]`.

What a case begins with is the same on every processor: doubles that NumPy draws, or quarters, whose sums of products
are exact in float32. What follows from it may differ in its last bits.
The tests beside this run them with Node; tests/canvas/test_browser_cases.py fails if the written cases are outdated.
"""

import base64
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from attnviz.analysis.head_matrix import Matrix
from attnviz.analysis.heads import nearest_heads
from attnviz.base import raw_scores
from attnviz.base.head_record import HeadData, PackedHeads
from attnviz.base.packed import pack_bits
from attnviz.base.record_json import from_json, to_json
from attnviz.base.rounding import format_number
from attnviz.canvas.shared import packing
from attnviz.core.attention import COLDEST
from attnviz.core.rope import RoPE, frequencies
from attnviz.figures import theme
from attnviz.pages.compare.maths import layer_costs
from attnviz.pages.scaling.maths import alternatives
from tests.canvas.browser_codes import decode16
from tests.js import attend_cases, birth_cases

FOLDER = Path(__file__).with_name("cases")

#: (width of a head, number of keys, standard deviation of q and k, which keys are masked)
ROWS = (
    (1, 2, 1.0, "none"),
    (3, 1, 1.0, "none"),
    (16, 16, 1.0, "causal"),
    (64, 33, 1.0, "random"),
    (1024, 12, 1.0, "causal"),
    (4096, 9, 2.0, "random"),
    (8, 6, 1.0, "all"),
)


def softmax_cases() -> dict[str, Any]:
    """Rows of scores, and the weights that each alternative to softmax gives each row at several parameters."""
    rng = np.random.default_rng(20260)
    rows = [_row(rng, *row) for row in ROWS]
    rows.append(_tied_row())
    cases = [
        {"row": i, "kind": kind, "parameter": parameter, "weights": _weights(kind, parameter, *tensors)}
        for i, (_, tensors) in enumerate(rows)
        for kind in alternatives.ALTERNATIVES
        for parameter in _parameters(kind)
    ]
    return {"coldest": COLDEST, "rows": [row for row, _ in rows], "cases": cases}


def _row(rng: np.random.Generator, d: int, n: int, spread: float, hidden: str) -> tuple[dict[str, Any], Any]:
    q = torch.from_numpy(rng.normal(0, spread, (1, 1, d)))
    k = torch.from_numpy(rng.normal(0, spread, (1, n, d)))
    kept = {"none": np.ones(n, bool), "all": np.zeros(n, bool), "causal": np.arange(n) <= n // 2}.get(hidden)
    mask = torch.from_numpy(rng.random(n) < 0.6 if kept is None else kept)
    return _described(q, k, mask), (q, k, mask)


def _tied_row() -> tuple[dict[str, Any], Any]:
    """Whole-number scores in which the largest occurs twice, and a third time at a masked key."""
    q = torch.ones(1, 1, 1, dtype=torch.float64)
    k = torch.tensor([[[2.0], [5.0], [-1.0], [5.0], [5.0]]], dtype=torch.float64)
    mask = torch.tensor([True, True, True, True, False])
    return _described(q, k, mask), (q, k, mask)


def _described(q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor) -> dict[str, Any]:
    scores = (q @ k.mT)[0, 0]
    cosines = torch.cosine_similarity(q[0], k[0], dim=-1)
    return {
        "d": q.shape[-1],
        "scores": [attend_cases.digits(s, 15) for s in scores.tolist()],
        "cosines": [attend_cases.digits(c, 15) for c in cosines.tolist()],
        "allowed": [int(m) for m in mask.tolist()],
    }


def _parameters(kind: str) -> list[float]:
    one = alternatives.ALTERNATIVES[kind]
    if not one.parameter:
        return [1.0]
    middle = (one.low + one.high) / 7
    cold = [1e-7, 1e-5, 0.005] if kind == "temperature" else []
    return sorted({one.low, one.default, middle, one.high, *cold})


def _weights(kind: str, parameter: float, q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor) -> list[float]:
    made = alternatives.stages(q, k, torch.zeros_like(k), kind, parameter, mask).weights[0, 0]
    return [attend_cases.digits(w, 10) for w in made.tolist()]


def packing_cases() -> dict[str, Any]:
    """Blobs as they are sent to the browser, with the values that must be read from them."""
    rng = np.random.default_rng(7)
    weights = rng.dirichlet(np.full(9, 0.3), 7)
    hidden = np.triu(np.ones((7, 9), bool), 3)
    differences = rng.uniform(-0.8, 0.8, (4, 5))
    grid = rng.random((5, 13)) < 0.5
    return {
        "weights": _packed(weights, hidden, 1.0, False),
        "differences": _packed(differences, None, 0.8, True),
        "bits": {
            "shape": list(grid.shape),
            "cells": grid.ravel().astype(int).tolist(),
            "base64": base64.b64encode(pack_bits(grid)).decode(),
        },
    }


def _packed(values: np.ndarray, hidden: np.ndarray | None, top: float, signed: bool) -> dict[str, Any]:
    codes = packing.encode16(values, hidden, top, signed)
    header = {"shape": list(values.shape), "top": top, "signed": signed, "tokens": ["<b>", "日本", "é\n"]}
    back = decode16(codes, top, signed).ravel()
    return {
        "blob": base64.b64encode(
            packing.pack_blob(header, packing.deflate(packing.split_bytes(codes), runs=True))
        ).decode(),
        "header": header,
        "values": [None if math.isnan(v) else attend_cases.digits(v, 12) for v in back.tolist()],
    }


def raw_scores_cases() -> dict[str, Any]:
    """Heads as `raw_scores` packs them, and what must be read from them: in 16 bits, in 32, as q and k."""
    rng = np.random.default_rng(11)
    plain = [_raw_head(rng, (5, 7)) for _ in range(3)]
    rich = [
        _raw_head(
            rng,
            (4, 6),
            mask=np.tri(4, 6, number, dtype=bool),
            scale=0.25 + number,
            padding=np.arange(6) > 0,
            bias=rng.normal(0, 1, (4, 6)).astype(np.float32) if number else np.zeros((4, 6), np.float32),
            softcap=30.0,
            sink=float(number) / 4,
        )
        for number in range(3)
    ]
    far = [replace(head, scores=(head.scores * [[1], [200], [1], [4000], [1]]).astype(np.float32)) for head in plain]
    reported = [replace(head, exact=False, width=0, scores=rng.dirichlet(np.ones(7), 5)) for head in plain]
    q, k = (rng.integers(-8, 9, (n, 3)).astype(np.float32) / 4 for n in (9, 11))
    vectors = [replace(_raw_head(rng, (9, 11)), scores=q @ k.T, width=3, q=q, k=k)]
    sixteen = {"plain": plain, "rich": rich, "far": far, "reported": reported}
    exact = {"exact": rich, "vectors": vectors}
    packed = {name: _raw_case(heads, 16) for name, heads in sixteen.items()}
    return packed | {name: _raw_case(heads, 32) for name, heads in exact.items()}


def decoded(header: PackedHeads | dict[str, Any], payload: bytes) -> NDArray[np.float32]:
    """The scores (N, Q, K) of `pack`, as the browser reads them."""
    packed = header if isinstance(header, PackedHeads) else from_json(PackedHeads, header)
    n, (q, k) = packed.count, packed.shape
    if packed.bits == 32:
        return np.frombuffer(payload, "<f4", n * q * k).reshape(n, q, k)
    rows, cells = n * q, n * q * k
    halves = np.frombuffer(payload, "<u2", 2 * rows).astype("<u4") << 16
    low, step = halves.view("<f4").astype(np.float64).reshape(2, n, q, 1)
    at = 4 * rows
    wide = np.unpackbits(np.frombuffer(payload, np.uint8, -(-rows // 8), at), count=rows).astype(bool).reshape(n, q)
    at += -(-rows // 8)
    high, middle = np.frombuffer(payload, np.uint8, 2 * cells, at).astype(np.uint32).reshape(2, n, q, k)
    codes: NDArray[np.uint32] = (256 * high + middle).astype(np.uint32)
    last = np.frombuffer(payload, np.uint8, int(wide.sum()) * k, at + 2 * cells)
    codes[wide] = 256 * codes[wide] + last.reshape(-1, k)
    return (low + codes * step).astype(np.float32)


def _raw_head(rng: np.random.Generator, shape: tuple[int, int], **more: Any) -> HeadData:
    scores = rng.normal(0, 20, shape).astype(np.float32)
    given: dict[str, Any] = {"mask": np.ones(shape, bool), "scale": 0.125, "width": 64} | more
    return HeadData(scores, **given)


def _raw_case(heads: list[HeadData], bits: Literal[16, 32]) -> dict[str, Any]:
    header, payload = raw_scores.pack(heads, bits)
    read = np.stack([head.scores for head in heads]) if header.vectors else decoded(header, payload)
    return {
        "header": to_json(header),
        "payload": base64.b64encode(payload).decode(),
        "heads": [
            {
                "exact": head.exact,
                "scores": scores.ravel().tolist(),
                "scale": head.scale,
                "dHead": head.width,
                "mask": head.mask.ravel().astype(int).tolist(),
                "padding": None if head.padding is None else head.padding.astype(int).tolist(),
                "bias": None if head.bias is None else head.bias.ravel().tolist(),
                "softcap": head.softcap,
                "sink": head.sink,
            }
            for head, scores in zip(heads, read, strict=True)
        ],
    }


def rotation_cases() -> list[dict[str, Any]]:
    """Pairs of a query and a key at two positions: what the chosen pair and all pairs together give."""
    rng = np.random.default_rng(21)
    made = []
    for width, base, pair, q_at, k_at in (
        (2, 10_000.0, 0, 0, 0),
        (8, 10_000.0, 1, 12, 4),
        (16, 100.0, 7, 3, 500),
        (64, 10_000.0, 0, 511, 510),
    ):
        q, k = (torch.from_numpy(attend_cases.quarters(rng, width)) for _ in "qk")
        rope = RoPE(base=base, pairing="interleaved")
        turned = [
            rope.rotate(x.double()[None, None], torch.tensor([at]))[0, 0].unflatten(-1, (-1, 2))
            for x, at in ((q, q_at), (k, k_at))
        ]
        products = (turned[0] * turned[1]).sum(-1)
        numbers = {"turns": frequencies(width, base).tolist(), "q": q.view(-1, 2).tolist(), "k": k.view(-1, 2).tolist()}
        here = {"pair": pair, "q_at": q_at, "k_at": k_at}
        made.append(numbers | here | {"product": float(products[pair]), "score": float(products.sum())})
    return made


def overlay_cases() -> list[dict[str, Any]]:
    """Heads that a visitor laid over the one on show, and which are drawn."""
    given = (([], 4, 9), ([0], 8, 9), ([3, 3, 99, -1, 5], 1, 12), ([8, 16, 24, 0], 32, 40), (list(range(12)), 7, 12))
    return [
        {"chosen": chosen, "lead": lead, "count": count, "shown": theme.overlaid_heads(chosen, lead, count)}
        for chosen, lead, count in given
    ]


def telling_row_cases() -> list[dict[str, Any]]:
    """Heads of which one row is told first: with a winner, with ties, with nothing but the first token, and signed."""
    rng = np.random.default_rng(46)
    free, causal = np.zeros((6, 6), bool), ~np.tri(6, dtype=bool)
    equal = np.tri(6) / np.arange(1, 7)[:, None]
    drawn = rng.dirichlet(np.ones(6), 6)
    twice = np.full((6, 6), 0.1)
    twice[1, 4] = twice[4, 1] = 0.5
    heads = [
        (drawn, free),
        (np.tril(drawn), causal),
        (equal, causal),
        (twice, free),
        (np.eye(6), free),
        (np.ones((1, 1)), free[:1, :1]),
        (np.tril(np.full((2, 2), 0.5)), causal[:2, :2]),
        (drawn - drawn[::-1], free),
    ]
    return [
        {
            "shape": list(values.shape),
            "values": [attend_cases.digits(value, 7) for value in values.ravel().tolist()],
            "hidden": hidden.ravel().astype(int).tolist(),
            "signed": bool((values < 0).any()),
            "row": _telling_row(values, hidden),
        }
        for values, hidden in heads
    ]


def _telling_row(values: NDArray[np.float64], hidden: NDArray[np.bool_]) -> int:
    rows, cols = (tuple(map(str, range(size))) for size in values.shape)
    at = tuple(range(values.shape[0])), tuple(range(values.shape[1]))
    return Matrix(values.astype(np.float32), hidden, rows, cols, *at).telling_row


def nearest_cases() -> list[dict[str, Any]]:
    """Heads and rows that are asked of them: the nearest heads, how near, and how many random rows come as near."""
    rng = np.random.default_rng(51)
    made = []
    for queries, words, heads, sharp in ((1, 9, 30, True), (4, 9, 30, True), (3, 6, 12, False), (2, 5, 8, False)):
        table = rng.dirichlet(np.full(words, 0.4), (queries, heads)).round(6)
        asked = table[:, 3] if sharp else np.tri(queries, words) * 2
        rows = np.maximum(0, asked + rng.normal(0, 0.02, asked.shape) * (asked > 0)).round(6)
        places = [(0, head) for head in range(heads)]
        found = nearest_heads.compare_rows(places, [(table[q], rows[q]) for q in range(queries)])
        near = [[each.head, each.divergence] for each in found.heads]
        made.append(
            {"heads": table.tolist(), "rows": rows.tolist(), "nearest": near, "chance": found.as_near_by_chance}
        )
    return made


def race_cases() -> list[dict[str, Any]]:
    """Steps that each machine needs, over distances and kernels."""
    kernels, distances = (2, 3, 5, 256), (1, 2, 7, 20, 24)
    return [
        {"distance": n, "kernel": k, "dilated": dilated, "steps": layer_costs.race_steps(n, k, dilated)}
        for n in distances for k in kernels for dilated in (False, True)
    ]  # fmt: skip


def rounding_cases() -> list[dict[str, Any]]:
    """Numbers between two that can be shown, just beside them, and at both ends, as they are written."""
    rng = np.random.default_rng(33)
    halves = [n / 2**power for power in (1, 3, 4, 5, 7) for n in (1, 3, 5, 9)]
    typed = [0.145, 0.285, 2.675, 1.005, 0.0875, 7 / 40, 0.0249999, 0.02499999999]
    ends = [0.0, 1e-9, 0.0001, 0.0005, 0.004, 0.9949, 0.9951, 0.99949, 0.9995, 1 - 1e-6, 1 - 1e-12, 1.0]
    others = [*rng.random(12).tolist(), *(1000 * rng.normal(size=8)).tolist(), 99.995, 12345.675, 1e15]
    singles = np.float32([0.0875, 0.175, 0.0125]).astype(float).tolist()
    values = [sign * value for value in (*halves, *typed, *ends, *others, *singles) for sign in (1, -1)]
    specs = [f".{digits}{kind}" for kind in "f%" for digits in range(5)]
    return [{"value": value} | {spec: format_number(value, spec) for spec in specs} for value in values]


CASES = {
    "rounding": rounding_cases,
    "softmax": softmax_cases,
    "packing": packing_cases,
    "race": race_cases,
    "rotation": rotation_cases,
    "raw_scores": raw_scores_cases,
    "attend": attend_cases.attend_cases,
    "edits": attend_cases.edit_cases,
    "overlay": overlay_cases,
    "telling_row": telling_row_cases,
    "nearest": nearest_cases,
    "birth": birth_cases.birth_cases,
}


def main(names: Sequence[str]) -> None:
    """Write these cases to their files, or all of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or CASES:
        text = json.dumps(CASES[name](), ensure_ascii=False, separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(text.replace("},{", "},\n{") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
