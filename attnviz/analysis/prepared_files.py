"""Results of the packaged models, computed beforehand by a script: each is a file of arrays with a header of JSON."""

import io
import json
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.base.message import Problem
from attnviz.models.catalogue import CATALOGUE
from attnviz.models.file_faults import DAMAGED, first_line, write_whole


def packaged_weights(model: str) -> str | None:
    """The hash of the packaged weights, for which alone a prepared result holds; None for a model that has none."""
    entry = next((model_entry for model_entry in CATALOGUE if model_entry.id == model), None)
    return None if entry is None or entry.wheel is None else entry.wheel.sha256


def pack_file(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """The file's contents."""
    out = io.BytesIO()
    np.savez_compressed(out, **arrays, header=np.frombuffer(json.dumps(header).encode(), np.uint8))  # type: ignore[arg-type]
    return out.getvalue()


def read(package: str, name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """Header and arrays of a file in the package's `data` folder; None where it is missing or damaged."""
    return read_path(files(package) / "data" / name)


def read_path(file: Traversable | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """The same of any file."""
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as archive:
            arrays = dict(archive)
        return json.loads(arrays.pop("header").tobytes()), arrays
    except DAMAGED:
        return None


def write_cache_file(file: Path, contents: bytes) -> Path:
    """Write a file of the cache folder; it is whole or not there."""
    try:
        write_whole(file, contents)
    except OSError as error:
        raise Problem(
            "{name} could not be stored in the cache folder: {reason}", name=file.name, reason=first_line(error)
        ) from error
    return file
