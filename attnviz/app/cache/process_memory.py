"""Whether this process has reached the memory that it may take: it then refuses work before the system ends it."""

import os
from pathlib import Path

from attnviz.app.cache.bounded_cache import give_back
from attnviz.models import settings

_STATM = Path("/proc/self/statm")


def own_memory() -> int:
    """Bytes that nobody shares with this process: without the files of models, which are mapped. 0 where not known."""
    try:
        _size, resident, shared, *_rest = map(int, _STATM.read_text().split())
    except OSError:
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def kept_memory() -> int:
    """The same; where it is more than `ATTNVIZ_PROCESS_MB`, after what is free was given back."""
    most = settings.current().process_bytes
    if most is not None and own_memory() >= most:
        give_back()
    return own_memory()


def is_short() -> bool:
    """Whether more is kept than `ATTNVIZ_PROCESS_MB`."""
    most = settings.current().process_bytes
    return most is not None and kept_memory() >= most
