"""Published facts included in the package: architectures, GPUs, and quality against cost, each with its source."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from attnviz.core.message import Problem, Several
from attnviz.core.roofline import Machine
from attnviz.models.architecture.parameter_counts import ParameterCounts

_DATA = Path(__file__).parent / "data"
GIB = 1 << 30


@dataclass(frozen=True)
class Preset:
    """One published model: the fields of its config, the common name of its attention, and the source of both."""

    id: str
    attention: str  #: MHA, GQA, MQA, MLA, with SWA for a sliding window
    model_type: str
    config: dict[str, Any] = field(hash=False)
    max_context: int | None
    total_parameters: int  #: counted on the meta device
    read_parameters: int  #: of these, what a decoding step reads: no table that is looked up, no encoder
    active_parameters: int  #: of these, what one token is multiplied with: in a mixture, its experts
    source: str
    verified: str  #: "yes": the published file, a copy of it or its makers' code was compared; else "partial"
    note: str = ""

    @property
    def counts(self) -> ParameterCounts:
        """Of the whole model, and what of it a decoding step uses."""
        return ParameterCounts(self.total_parameters, self.read_parameters, self.active_parameters)


@dataclass(frozen=True)
class Gpu:
    """One GPU as its maker states it: dense 16-bit FLOP/s, memory bandwidth, memory."""

    id: str
    name: str
    teraflops: float
    gigabytes_per_second: float
    memory_gib: float  #: makers call this GB
    source: str

    @property
    def machine(self) -> Machine:
        return Machine(int(self.teraflops * 1e12), int(self.gigabytes_per_second * 1e9), int(self.memory_gib * GIB))


@dataclass(frozen=True)
class Quality:
    """One row of the GQA paper's table 1: seconds per sample, and the average score over the tasks."""

    model: str
    seconds: float
    score: float


@lru_cache(maxsize=1)
def all_presets() -> dict[str, Preset]:
    return {row["id"]: Preset(**row) for row in _load("presets.json")["models"]}


def find_preset(name: str) -> Preset:
    """The preset with this name; an unknown name is a Problem that lists the known ones."""
    known = all_presets()
    if name not in known:
        raise Problem("no architecture is called {name}; known are {known}", name=name, known=Several(known))
    return known[name]


@lru_cache(maxsize=1)
def gpus() -> dict[str, Gpu]:
    return {row["id"]: Gpu(**row) for row in _load("gpus.json")["gpus"]}


@lru_cache(maxsize=1)
def quality() -> tuple[tuple[Quality, ...], str]:
    """The rows of the GQA paper's table 1, and their source."""
    loaded = _load("quality.json")
    return tuple(Quality(**row) for row in loaded["rows"]), loaded["source"]


def _load(name: str) -> Any:
    return json.loads((_DATA / name).read_text(encoding="utf-8"))
