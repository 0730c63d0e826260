"""A machine's measurement kept on its disk, so that visitors see it without starting one."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from attnviz.core.message import Problem
from attnviz.core.processor import processor_name
from attnviz.core.roofline import Machine
from attnviz.experiments.decoding.prefill_and_decode import Measured, PassPoint
from attnviz.models.settings import current

FORMAT = 1


@dataclass(frozen=True)
class KeptMeasurement:
    """What was measured, when, on which processor, with how many threads."""

    measured: Measured
    day: str
    processor: str
    threads: int


def path_of(model: str) -> Path:
    """Where the measurement of a model is kept, in the cache folder."""
    safe = "".join(c if c.isalnum() or c in "-." else "-" for c in model)
    return current().cache / "measurements" / f"decoding-{safe}.json"


def keep(model: str, measured: Measured) -> KeptMeasurement:
    """Write a measurement; the file is whole or not there at all."""
    kept = KeptMeasurement(measured, datetime.now(UTC).date().isoformat(), processor_name(), torch.get_num_threads())
    target = path_of(model)
    fresh = target.with_suffix(".fresh")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps({"format": FORMAT} | asdict(kept)), "utf-8")
        fresh.replace(target)
    except OSError as error:
        raise Problem(
            "The measurement could not be stored in the cache folder: {reason}", reason=error.strerror or error
        ) from error
    return kept


def find(model: str) -> KeptMeasurement | None:
    """The measurement of a model; None where none was made, or where its file is damaged."""
    try:
        held = json.loads(path_of(model).read_text("utf-8"))
        if held["format"] != FORMAT:
            return None
        made = held["measured"]
        points = tuple(PassPoint(**point) for point in made["points"])
        measured = Measured(Machine(**made["machine"]), points, made["total"])
        return KeptMeasurement(measured, str(held["day"]), str(held["processor"]), int(held["threads"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
