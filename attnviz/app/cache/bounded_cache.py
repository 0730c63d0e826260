"""A cache that all visitors share: each value is computed once, and the total size in bytes is limited.

And whether the process has reached the memory that it may take: it then refuses work before the system ends it.
"""

import contextlib
import ctypes
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import CancelledError, Future
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Generic, TypeVar

from attnviz.models import settings

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """Values by key; the least recently used are evicted when all together weigh more than `limit` bytes.

    Threads that ask for a key while its value is being made wait for that one attempt: they all get
    its value or its exception. An exception is not kept, so that the next request tries again. If the
    thread that makes a value is stopped (Streamlit ends a run with a BaseException), one of the waiting
    threads makes it instead. No lock is held while a value is made or weighed; other keys never wait.

    A value is weighed once, when it is stored: it must not grow afterwards. The newest value stays
    however heavy it is, and whoever still holds an evicted value can go on using it.
    """

    def __init__(
        self,
        limit: int,
        weigh: Callable[[T], int],
        on_evict: Callable[[], None] = lambda: None,
        awaited: Callable[[Future[T]], object] = lambda _: None,
    ) -> None:
        """`on_evict` is called after evicted values were released, by the thread that stored the new value.

        `awaited` is given what another thread is making, and may tell of the wait or end it by an exception.
        """
        self.limit = limit
        self.hits = 0  #: requests that found a value, or another thread making it
        self.misses = 0
        self.weight = 0  #: bytes of all values together
        self._weigh = weigh
        self._on_evict = on_evict
        self._awaited = awaited
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        #: what is being computed, and the id of the thread that computes it (0: a thread of the cache's own)
        self._making: dict[Hashable, tuple[Future[T], int]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value under `key`; if it is missing, it is made now, in this thread."""
        while True:
            result, is_ours = self._claim(key, threading.get_ident())
            if is_ours:
                return self._make(key, make, result)
            try:
                if not result.done():
                    self._awaited(result)
                return result.result()
            except CancelledError:
                continue

    def begin(self, key: Hashable, make: Callable[[], T]) -> Future[T]:
        """A future of the value under `key`, without waiting: a missing value is made in a thread of its own."""
        result, is_ours = self._claim(key, 0)
        if is_ours:
            threading.Thread(target=self._make_in_background, args=(key, make, result), daemon=True).start()
        return result

    def find(self, key: Hashable) -> T | None:
        """The value under `key`, or None when it is missing. Nothing is made; finding it counts as a use."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def forget(self, key: Hashable) -> None:
        """Remove the value under `key`, if there is one, so that it is made anew."""
        with self._lock:
            self.weight -= self._values.pop(key, (None, 0))[1]

    def __contains__(self, key: Hashable) -> bool:
        with self._lock:
            return key in self._values

    def _claim(self, key: Hashable, thread: int) -> tuple[Future[T], bool]:
        """The future of a value, and True when it is up to the caller to make it."""
        with self._lock:
            if key in self._values:
                self.hits += 1
                self._values.move_to_end(key)
                here: Future[T] = Future()
                here.set_result(self._values[key][0])
                return here, False
            if key not in self._making:
                self.misses += 1
                self._making[key] = Future(), thread
                return self._making[key][0], True
            self.hits += 1
            result, maker = self._making[key]
        if thread and maker == thread:
            raise RuntimeError(f"making {key!r} asks for {key!r}: it would wait for itself")
        return result, False

    def _make(self, key: Hashable, make: Callable[[], T], result: Future[T]) -> T:
        try:
            value = make()
            weight = self._weigh(value)
        except BaseException as error:
            with self._lock:
                del self._making[key]
            if isinstance(error, Exception):
                result.set_exception(error)
            else:
                result.cancel()
            raise
        evicted = []
        with self._lock:
            del self._making[key]
            self._values[key] = value, weight
            self.weight += weight
            while len(self._values) > 1 and self.weight > self.limit:
                _key, oldest = self._values.popitem(last=False)
                self.weight -= oldest[1]
                evicted.append(oldest)
        result.set_result(value)
        if evicted:
            del oldest, evicted  # only now that the lock is released: freeing a model takes a while
            self._on_evict()
        return value

    def _make_in_background(self, key: Hashable, make: Callable[[], T], result: Future[T]) -> None:
        with contextlib.suppress(Exception):  # the future holds it, for those who wait
            self._make(key, make, result)


def trim_memory() -> None:
    """Let the allocator return what is free, where it can (glibc); it would keep it for each of its threads.

    Measured with 40 sentences of 256 tokens in eight threads: the process levels off at 1.4 GB instead of 2.2.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another system's allocator
        ctypes.CDLL(None).malloc_trim(0)


def count_bytes(value: object) -> int:
    """Bytes of the arrays and tensors in a value, searched for inside dataclasses, mappings and collections."""
    nbytes = getattr(value, "nbytes", None)
    if isinstance(nbytes, int):
        return nbytes
    if is_dataclass(value) and not isinstance(value, type):
        return sum(count_bytes(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return sum(count_bytes(key) + count_bytes(element) for key, element in value.items())
    if isinstance(value, list | tuple | AbstractSet):
        return sum(count_bytes(element) for element in value)
    return sys.getsizeof(value)


_STATM = Path("/proc/self/statm")


def own_memory() -> int:
    """Bytes that nobody shares with this process: without the files of models, which are mapped. 0 where not known."""
    try:
        _size, resident, shared, *_rest = map(int, _STATM.read_text().split())
    except OSError:
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def memory_after_trim() -> int:
    """Bytes of own memory; above `ATTNVIZ_PROCESS_MB` they are measured after the allocator returned what is free."""
    most = settings.current_settings().process_bytes
    if most is not None and own_memory() >= most:
        trim_memory()
    return own_memory()


def is_memory_short() -> bool:
    """Whether more is kept than `ATTNVIZ_PROCESS_MB`."""
    most = settings.current_settings().process_bytes
    return most is not None and memory_after_trim() >= most
