"""What this machine's processor is called: it stands beside everything that was measured here."""

from __future__ import annotations

import platform
from pathlib import Path

ABOUT = Path("/proc/cpuinfo")  #: where Linux tells it


def processor_name() -> str:
    """The processor's name; its architecture where nothing tells more."""
    try:
        lines = ABOUT.read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
