"""Memory of evicted values, given back to the system."""

from __future__ import annotations

import contextlib
import ctypes


def give_back() -> None:
    """Let the allocator return what is free, where it can (glibc); it would keep it for each of its threads.

    Measured with 40 sentences of 256 tokens in eight threads: the process levels off at 1.4 GB instead of 2.2.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another system's allocator
        ctypes.CDLL(None).malloc_trim(0)
