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


def is_short() -> bool:
    """Whether more is taken than `ATTNVIZ_PROCESS_MB`, also after what is free was given back."""
    most = settings.current().process_bytes
    if most is None or own_memory() < most:
        return False
    give_back()
    return own_memory() >= most
