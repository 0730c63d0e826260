"""System limits of a serving process: open files, ending with its parent, and available memory."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MOST_FILES = 65_536
FOR_PROCESSES = 0.85  #: of the machine's memory, for all processes and one that takes another's place
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  #: of a container


def open_more_files() -> int:
    """Let this process hold as many connections as its system allows: a visitor takes four, and 1,024 are usual."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return 1024


def end_with_parent(by: int = signal.SIGKILL) -> Callable[[], None] | None:
    """For `preexec_fn`: the child ends when the thread that started it does (Linux's PR_SET_PDEATHSIG, 1)."""
    if not sys.platform.startswith("linux"):
        return None
    library, parent = ctypes.CDLL(None), os.getpid()

    def ask() -> None:
        library.prctl(1, by)
        if os.getppid() != parent:  # it ended meanwhile
            os.kill(os.getpid(), by)

    return ask


def machine_memory() -> int:
    """Bytes of memory of this machine, or of the container that this process runs in."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in LIMITS:
        with suppress(OSError, ValueError):  # no such file, or "max"
            known.append(int(Path(path).read_text()))
    return min(known)


def memory_mark(processes: int = 0) -> int:
    """Memory in MB at which each of `processes`, 0 for one alone, refuses new work (`ATTNVIZ_PROCESS_MB`)."""
    return int(os.environ.get("ATTNVIZ_PROCESS_MB") or machine_memory() * FOR_PROCESSES / (processes + 1) / 10**6)
