"""What the process keeps for all visitors: models and readings, bounded in bytes, each made once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memory(Generic[T]):
    """Values by key, the least recently used let go when they weigh more than `limit` bytes together.

    Several threads that ask for the same key wait for one of them to make it; other keys do not
    wait. The newest value always stays, however heavy. A failure is raised to all and not kept.
    """

    def __init__(self, limit: int, weigh: Callable[[T], int]) -> None:
        self._limit = limit
        self._weigh = weigh
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value under `key`, made now if it is not there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            turn = self._making.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._kept:
                    return self._kept[key]
            value = make()
            with self._lock:
                self._kept[key] = value
                self._making.pop(key, None)
                self._let_go()
            return value

    def peek(self, key: Hashable) -> T | None:
        """The value under `key` if it is here; nothing is made."""
        with self._lock:
            return self._kept.get(key)

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._kept

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept)

    def _let_go(self) -> None:
        while len(self._kept) > 1 and sum(self._weigh(value) for value in self._kept.values()) > self._limit:
            self._kept.popitem(last=False)
