"""A thread for what needs an event loop: a browser's test leaves one running in the main thread of its process."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def in_own_thread(work: Callable[..., T], *given: object) -> T:
    """What the work returns, or raises."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, *given).result()
