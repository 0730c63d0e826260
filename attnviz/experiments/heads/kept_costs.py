"""Costs kept in a file, batch by batch, so that a run that was stopped goes on."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.experiments.heads.growing_scores import HeadPositions

OfBatch = tuple[HeadPositions, tuple[str, ...], dict[str, np.ndarray]]


class KeptCosts:
    """What the file holds of the same model, batch by batch; and what is added to it."""

    def __init__(self, path: Path | str | None, model: nn.Module, means: Mapping[str, Tensor] | None) -> None:
        self._path = None if path is None else Path(path)
        self._key = "" if path is None else _fingerprint(model, means)
        self._held = self._read()

    def find(self, inputs: dict[str, Any]) -> OfBatch | None:
        """The costs of these sentences, where they were measured before."""
        return self._held.get(_key_of(inputs)) if self._held else None

    def add(self, inputs: dict[str, Any], found: OfBatch) -> None:
        """Keep the costs of these sentences, where there is a file to keep them in."""
        if self._path is not None:
            self._held[_key_of(inputs)] = found
            self._write(self._path)

    def _read(self) -> dict[str, OfBatch]:
        if self._path is None or not self._path.exists():
            return {}
        try:
            with np.load(self._path, allow_pickle=False) as file:
                said = json.loads(str(file["said"]))
                if said["key"] != self._key:
                    return {}
                places, names = tuple((layer, head) for layer, head in said["places"]), tuple(said["names"])
                return {
                    key: (places, names, {kind: file[f"{kind} {key}"] for kind in said["kinds"]})
                    for key in said["done"]
                }
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return {}  # half a file, or another's: what it would hold is computed again

    def _write(self, path: Path) -> None:
        places, names, costs = next(iter(self._held.values()))
        said = {"key": self._key, "places": places, "names": names, "kinds": list(costs), "done": list(self._held)}
        arrays = {f"{kind} {key}": value for key, (_, _, held) in self._held.items() for kind, value in held.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.npz")
        np.savez(temporary, said=np.array(json.dumps(said)), **arrays)  # type: ignore[arg-type]
        temporary.replace(path)


def _key_of(inputs: dict[str, Any]) -> str:
    return _digest({name: value for name, value in inputs.items() if isinstance(value, Tensor)})


def _fingerprint(model: nn.Module, means: Mapping[str, Tensor] | None) -> str:
    """What tells one model from another, and one set of means: names, shapes and sums of all numbers."""
    with torch.no_grad():
        named = {name: value.sum(dtype=torch.float64) for name, value in model.state_dict().items()}
    return _digest(named | {f"mean of {name}": value for name, value in (means or {}).items()})


def _digest(tensors: Mapping[str, Tensor]) -> str:
    made = hashlib.sha256()
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        made.update(f"{name} {value.dtype} {tuple(value.shape)} ".encode() + value.numpy().tobytes())
    return made.hexdigest()[:24]
