"""Costs gathered batch by batch, and kept in a file so that a run that was stopped goes on."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.experiments.heads.head_scores import HeadScores

HeadPlaces = tuple[tuple[int, int], ...]
OfBatch = tuple[HeadPlaces, tuple[str, ...], dict[str, np.ndarray]]


class KeptCosts:
    """The costs of the batches so far; those that the file holds for the same model are not computed again."""

    def __init__(self, path: Path | str | None, model: nn.Module, means: Mapping[str, Tensor] | None) -> None:
        self._path = None if path is None else Path(path)
        self._key = "" if path is None else _fingerprint(model, means)
        self._stored = self._read()
        self._found: dict[str, list[np.ndarray]] = {}
        self._done: dict[str, OfBatch] = {}

    @property
    def empty(self) -> bool:
        return not self._found

    def add(self, inputs: dict[str, Any], compute: Callable[[dict[str, Any]], OfBatch]) -> HeadScores:
        key = _digest({name: value for name, value in inputs.items() if isinstance(value, Tensor)})
        stored = self._stored.get(key)
        here = compute(inputs) if stored is None else stored
        places, names, costs = here
        for name, values in costs.items():
            self._found.setdefault(name, []).append(values)
        self._done[key] = here
        if stored is None:
            self._write()
        joined = {name: np.concatenate(parts) for name, parts in self._found.items()}
        return HeadScores(places, names, joined, len(next(iter(joined.values()))))

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

    def _write(self) -> None:
        if self._path is None:
            return
        everything = self._stored | self._done
        places, names, costs = next(iter(everything.values()))
        said = {"key": self._key, "places": places, "names": names, "kinds": list(costs), "done": list(everything)}
        arrays = {f"{kind} {key}": value for key, (_, _, held) in everything.items() for kind, value in held.items()}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.npz")
        np.savez(temporary, said=np.array(json.dumps(said)), **arrays)  # type: ignore[arg-type]
        temporary.replace(self._path)


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
