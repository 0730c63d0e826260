"""The shortest possible time of a decoding step: the slower of computing and reading memory."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from attnviz.base.message import Problem


@dataclass(frozen=True)
class Machine:
    """The peak performance of a processor, as its maker states it."""

    peak: int  #: FLOP per second in the precision computed in, without sparsity
    bandwidth: int  #: bytes per second
    memory: int  #: bytes

    def __post_init__(self) -> None:
        for name in ("peak", "bandwidth", "memory"):
            if getattr(self, name) < 1:
                raise Problem("{name}={value} must be at least 1", name=name, value=getattr(self, name))


@dataclass(frozen=True)
class DecodingStep:
    """The ideal times of one decoding step of a batch, in seconds."""

    compute_seconds: float
    memory_seconds: float

    @property
    def seconds(self) -> float:
        return max(self.compute_seconds, self.memory_seconds)

    @property
    def bound(self) -> Literal["compute", "memory"]:
        return "compute" if self.compute_seconds > self.memory_seconds else "memory"


def decode_step(
    machine: Machine, *, parameters: int, weight_bytes: int, attention_flops: int, cache_bytes: int, batch: int
) -> DecodingStep:
    """One step for a batch of B sequences: max((2*N*B + B*attention)/peak, (weights + B*cache)/bandwidth) seconds.

    `parameters` N counts those each token is multiplied by (in a mixture of experts, the active ones).
    `attention_flops` (scores and values) and `cache_bytes` are per sequence, summed over layers.
    """
    compute = batch * (2 * parameters + attention_flops) / machine.peak
    return DecodingStep(compute, (weight_bytes + batch * cache_bytes) / machine.bandwidth)


# What this machine's processor is called: it stands beside everything that was measured here.
ABOUT = Path("/proc/cpuinfo")  #: where Linux tells it


def processor_name() -> str:
    """The processor's name; its architecture where nothing tells more."""
    try:
        lines = ABOUT.read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
