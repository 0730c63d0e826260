"""How much memory a model may take: what the machine, the container and the process itself have left."""

from contextlib import suppress
from pathlib import Path
from typing import Final

CGROUP: Final = Path("/sys/fs/cgroup")
LIMITS: Final = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)

#: bytes that reading weights takes besides; where there were none, a library that cannot allocate ended the process
KEPT_FREE: Final = 128 * 2**20


def free_memory(device: str) -> int | None:
    """Free memory on a device in bytes; None if the system does not report it."""
    import torch

    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    known = [free for free in (_meminfo(), _cgroup(), _address_space()) if free is not None]
    return min(known) if known else None


def _meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _cgroup() -> int | None:
    """Bytes left below the memory limit of the container (cgroup, of either version); None if there is no limit."""
    for limit, used in LIMITS:
        with suppress(OSError, ValueError):  # no such file, or "max"
            return max(int((CGROUP / limit).read_text()) - int((CGROUP / used).read_text()), 0)
    return None


def _address_space() -> int | None:
    """Bytes that this process may map besides what reading weights needs; None if nothing bounds it (RLIMIT_AS)."""
    try:
        import resource  # not on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return None
    return None if limit == resource.RLIM_INFINITY else max(limit - used - KEPT_FREE, 0)
