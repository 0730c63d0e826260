"""Waiting for a condition instead of for a time."""

import time
from collections.abc import Callable


def until(holds: Callable[[], object], seconds: float = 45) -> None:
    """Wait until `holds()` is true; fails after `seconds`."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"still not so after {seconds} seconds"
        time.sleep(0.02)
