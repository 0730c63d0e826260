"""The machine that something was measured on, as its own record tells it."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from attnviz.base.message import Message
from attnviz.core.processor import processor_name


@dataclass(frozen=True)
class MeasuredOn:
    """The processor, its cores, torch, and the threads that torch used: with one, what is told is processor time."""

    processor: str
    cores: int
    torch: str
    threads: int

    @property
    def words(self) -> Message:
        """All of it in one line, with the clock."""
        clock = Message("processor time") if self.threads == 1 else Message("wall time")
        return Message(
            "{processor}, cores: {cores}; torch {torch}, threads: {threads}, float32, {clock}",
            {name: getattr(self, name) for name in ("processor", "cores", "torch", "threads")} | {"clock": clock},
        )


def this_machine() -> MeasuredOn:
    """The one that this runs on."""
    return MeasuredOn(processor_name(), os.cpu_count() or 1, torch.__version__, torch.get_num_threads())
