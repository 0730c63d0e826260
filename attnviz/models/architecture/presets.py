"""Published facts included in the package: architectures, GPUs, and quality against cost, each with its source."""

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from attnviz.base.message import MessageList, Problem
from attnviz.base.words import N_
from attnviz.core.costs import Machine
from attnviz.models.architecture.meta_device import ParameterCounts

GIB = 1 << 30
HELD_TOKENS = 512
#: what is noted beside models in presets.json, for translators; sources stay as they are cited
NOTES = (
    N_("Early tables (HF llama31 blog, Jamba-1.5 Table 1) reproduce only with 16 KV heads"),
    N_("an encoder of 196 patches: no cache"),
    N_("an encoder: no cache"),
    N_("config.head_dim=64 and num_key_value_heads=128 are traps; config default max_position_embeddings=4096"),
    N_("encoder-decoder"),
    N_("encoder-decoder; its encoder always reads 1,500 positions"),
    N_("every second layer sees 256 tokens; transformers keeps all"),
    N_("head width 256, not 3072/16"),
    N_("head_dim 128 != 5120/64=80"),
    N_("published max context not verified (config default 32768)"),
    N_("the decoder this app runs"),
    N_("the encoder this app runs: no cache"),
)


@dataclass(frozen=True)
class Preset:
    """One published model: the fields of its config, the common name of its attention, and the source of both."""

    id: str
    attention: str  #: MHA, GQA, MQA, MLA, with SWA for a sliding window
    model_type: str
    config: dict[str, Any] = field(hash=False)
    max_context: int | None
    counts: ParameterCounts  #: of the whole model, and what of it a decoding step uses: counted on the meta device
    held: int  #: bytes of its cache after HELD_TOKENS tokens, measured there
    source: str
    verified: str  #: "yes": the published file, a copy of it or its makers' code was compared; else "partial"
    note: str = ""


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
    models = _load("presets.json")["models"]
    return {row["id"]: Preset(**row | {"counts": ParameterCounts(**row["counts"])}) for row in models}


def find_preset(name: str) -> Preset:
    """The preset with this name; a Problem that names the nearest ones if there is none."""
    known = all_presets()
    if name not in known:
        near = get_close_matches(name, known, 5, 0.0)
        raise Problem("no architecture is called {name}; close are {known}", name=name, known=MessageList(near))
    return known[name]


@lru_cache(maxsize=1)
def gpus() -> dict[str, Gpu]:
    return {row["id"]: Gpu(**row) for row in _load("gpus.json")["gpus"]}


@lru_cache(maxsize=1)
def published_quality() -> tuple[tuple[Quality, ...], str]:
    """The rows of the GQA paper's table 1, and their source."""
    loaded = _load("quality.json")
    return tuple(Quality(**row) for row in loaded["rows"]), loaded["source"]


def _load(name: str) -> Any:
    return json.loads((Path(__file__).parent / "data" / name).read_text(encoding="utf-8"))
