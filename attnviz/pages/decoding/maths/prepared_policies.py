"""The policies' result for the page's own example, computed beforehand: some 20 passes that nobody has to wait for.

`python -m scripts.prepare_decoding` writes it; it holds for exactly these weights, this text and this seed, and
tests/pages/decoding/test_prepared_policies.py computes it again.
"""

from __future__ import annotations

import io
import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import torch

from attnviz.core.eviction import Eviction, kept_by_position
from attnviz.models.catalogue import CATALOGUE
from attnviz.pages.decoding.maths.kept_positions import Config, Kept, Result
from attnviz.pages.decoding.maths.teacher_forcing import MovedPredictions

FORMAT = 1
FILE = "prepared_policies.npz"


def find(model: str, config: Config) -> Result | None:
    """The prepared result, where there is one for this model and these settings."""
    header, arrays = _held()
    asked = {"format": FORMAT, "model": model, "weights": weights_of(model), "text": config.text, "seed": config.seed}
    if {name: header.get(name) for name in asked} != asked:
        return None
    kept = tuple(_kept(n, each, header, arrays) for n, each in enumerate(header["policies"]))
    return Result(
        config,
        tuple(header["labels"]),
        header["prompt"],
        tuple(header["budgets"]),
        kept,
        MovedPredictions(arrays["zero"], arrays["zero"], arrays["zero"] == 0, header["full_loss"]),
        header["full_bytes"],
        (),
    )


def packed(model: str, result: Result) -> bytes:
    """The file's contents for a complete result."""
    arrays: dict[str, np.ndarray] = {"zero": np.zeros(result.total - result.prompt)}
    for n, each in enumerate(result.kept):
        arrays[f"kl{n}"] = each.moved.kl
        arrays[f"largest{n}"] = each.moved.largest
        arrays[f"same{n}"] = each.moved.same
        if each.policy.looks:
            arrays[f"positions{n}"] = np.packbits(each.positions)
    header = {
        "format": FORMAT,
        "model": model,
        "weights": weights_of(model),
        "text": result.config.text,
        "seed": result.config.seed,
        "labels": result.labels,
        "prompt": result.prompt,
        "budgets": result.budgets,
        "full_loss": result.full.loss,
        "full_bytes": result.full_bytes,
        "policies": [
            {
                "kind": each.policy.kind,
                "budget": each.policy.budget,
                "loss": each.moved.loss,
                "bytes": each.cache_bytes,
                "shape": each.positions.shape,
            }
            for each in result.kept
        ],
    }
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def weights_of(model: str) -> str | None:
    """The hash of the packaged weights; None for a model that has none."""
    entry = next((each for each in CATALOGUE if each.id == model), None)
    return None if entry is None or entry.wheel is None else entry.wheel.sha256


@lru_cache(maxsize=1)
def _held() -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        data = (files(__package__) / "data" / FILE).read_bytes()
    except OSError:
        return {}, {}
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        arrays = dict(held)
    return json.loads(arrays.pop("header").tobytes()), arrays


def _kept(n: int, each: dict[str, Any], header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Kept:
    policy = Eviction(each["kind"], each["budget"], header["seed"])
    moved = MovedPredictions(arrays[f"kl{n}"], arrays[f"largest{n}"], arrays[f"same{n}"], each["loss"])
    return Kept(policy, moved, _positions(policy, each["shape"], header, arrays.get(f"positions{n}")), each["bytes"])


def _positions(policy: Eviction, shape: list[int], header: dict[str, Any], bits: np.ndarray | None) -> np.ndarray:
    if bits is not None:
        return np.unpackbits(bits, count=int(np.prod(shape))).astype(bool).reshape(shape)
    fixed = kept_by_position(policy, header["prompt"], len(header["labels"]))
    return torch.broadcast_to(fixed, shape).numpy()
