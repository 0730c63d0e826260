"""The hardware that a model runs on: its device, the dtype to compute in, its free memory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attnviz.base.message import Problem
from attnviz.models.catalogue import Entry
from attnviz.models.settings import Settings

_MILLION: Final = 10**6


def check_memory(needed: int, entry: Entry, settings: Settings, device: str) -> None:
    """Raise a Problem if weights of `needed` bytes exceed the limit in the settings or the free memory."""
    free = settings.memory_bytes or free_memory(device)
    if free is not None and needed > free:
        raise Problem(
            "{name} is too large for this machine: its weights take {needed} MB of memory and {free} MB are free",
            name=entry.name,
            needed=needed // _MILLION,
            free=free // _MILLION,
        )


def pick_device(settings: Settings) -> str:
    """The device in the settings, or the first of cuda, mps and cpu that is available."""
    import torch

    if settings.device:
        try:
            return str(torch.device(settings.device))
        except RuntimeError as error:
            raise Problem("ATTNVIZ_DEVICE={device} is not a torch device", device=settings.device) from error
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def pick_dtype(settings: Settings, device: str) -> str:
    """The dtype in the settings, or the default: the checkpoint's own on a GPU, to save memory, else float32."""
    return settings.dtype or ("auto" if device.startswith("cuda") else "float32")


def free_memory(device: str) -> int | None:
    """Free memory on a device in bytes; None if the system does not report it."""
    import torch

    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    known = [free for free in (_meminfo(), _cgroup()) if free is not None]
    return min(known) if known else None


def _meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _cgroup() -> int | None:
    """Bytes left below the memory limit of the container (cgroup); None if there is no limit."""
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):
        return None
    return max(int(limit) - used, 0) if limit.isdecimal() else None
