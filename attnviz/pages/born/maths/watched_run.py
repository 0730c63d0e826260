"""A training that `av.watch` recorded: the lines of its file as arrays. It may still grow."""

import json
from base64 import b64decode
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.base.message import NONSENSE, Problem

MEASURES = ("induction", "entropy", "sink_mass", "max_logits")
LARGEST = 50_000_000  #: bytes of a file
MOST_SIDE = 32  #: cells of a thumbnail's side


@dataclass(frozen=True, eq=False)
class WatchedRun:
    """Records of a training. C counts records, N all heads."""

    steps: np.ndarray  #: (C,)
    loss: np.ndarray  #: (C,) nats, NaN where there is none
    measures: dict[str, np.ndarray]  #: (C, N) of each, NaN where a head has none
    counts: tuple[int, ...]  #: heads of each layer
    thumbnails: tuple[np.ndarray, ...]  #: (N, q, k) of each record, largest weights from 0 to 1

    @property
    def names(self) -> list[str]:
        """Of all heads, as layer.head."""
        return [f"{layer}.{head}" for layer, count in enumerate(self.counts) for head in range(count)]


def parse(text: str) -> WatchedRun:
    """The records of a file; a last line that is still being written is left out. A Problem names a wrong line."""
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        lines.pop()
    records = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(_read_record(json.loads(line)))
        except (*NONSENSE, ValueError, RecursionError):
            raise Problem("Line {number} is no record of av.watch.", number=number) from None
    if not records:
        raise Problem("This file has no record of av.watch yet.")
    counts = records[0][3]
    if any(record[3] != counts for record in records):
        raise Problem("The records of this file are of models with different numbers of heads.")
    return WatchedRun(
        np.array([record[0] for record in records]),
        np.array([record[1] for record in records], float),
        {name: np.array([record[2][name] for record in records], float) for name in MEASURES},
        counts,
        tuple(record[4] for record in records),
    )


def read(path: Path) -> WatchedRun:
    """The records of a file on this machine."""
    if path.suffix != ".jsonl" or not path.is_file():
        raise Problem("{path} is no file of av.watch, which ends in .jsonl.", path=str(path))
    file = path.stat()
    if file.st_size > LARGEST:
        raise Problem("The file has more than {most} MB.", most=LARGEST // 10**6)
    return _read_version(path, file.st_mtime_ns, file.st_size)


@lru_cache(maxsize=4)
def _read_version(path: Path, _changed_at: int, _size: int) -> WatchedRun:
    """The records of a file as it is now: it is looked at every few seconds, and a long one takes half a second."""
    try:
        return parse(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        raise Problem("{path} cannot be read.", path=str(path)) from None


def _read_record(record: dict[str, Any]) -> tuple[int, float, dict[str, list[float]], tuple[int, ...], np.ndarray]:
    """Step, loss, measures of all heads, heads of each layer and thumbnails of one record."""
    counts = tuple(int(picture["shape"][0]) for picture in record["thumbnails"])
    pictures = []
    for picture in record["thumbnails"]:
        shape = tuple(int(size) for size in picture["shape"])
        if len(shape) != 3 or not min(shape) > 0 or max(shape[1:]) > MOST_SIDE:
            raise ValueError(shape)
        pictures.append(np.frombuffer(b64decode(picture["data"]), np.uint8).reshape(shape) / np.float32(255))
    measures = {name: _of_all_heads(record.get(name), counts) for name in MEASURES}
    loss = record["loss"]
    return int(record["step"]), float("nan" if loss is None else loss), measures, counts, np.concatenate(pictures)


def _of_all_heads(layers: Any, counts: tuple[int, ...]) -> list[float]:
    """A number for each head, NaN where there is none."""
    if layers is None:
        return [float("nan")] * sum(counts)
    numbers = [
        float("nan") if number is None else float(number)
        for layer, count in zip(layers, counts, strict=True)
        for number in (layer if layer is not None else [None] * count)
    ]
    if len(numbers) != sum(counts):
        raise ValueError(len(numbers))
    return numbers
