"""A few places for work that slows other work down, and how many wait for one."""

from __future__ import annotations

import threading
from types import TracebackType


class Slots:
    """As a context: waits until one of `places` is free, and holds it.

    `waiting` says how many threads wait now, and `taken` how many places are held.
    """

    def __init__(self, places: int) -> None:
        self.waiting = 0
        self.taken = 0
        self._places = threading.Semaphore(places)
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._places.acquire(blocking=False):
            with self._lock:
                self.waiting += 1
            try:
                self._places.acquire()
            finally:
                with self._lock:
                    self.waiting -= 1
        with self._lock:
            self.taken += 1

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with self._lock:
            self.taken -= 1
        self._places.release()
