"""Disks that are full, and folders that nobody may enter or write to: made for real, and undone at the end."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

NOBODY = 65_534


@contextmanager
def filling_disk(folder: Path, room: int) -> Iterator[None]:
    """A disk of its own at `folder` with room for so many bytes, until the block ends.

    Where this machine lets nobody mount one, every file of this process may have so many bytes instead.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not can_mount():
        with short_files(room):
            yield
        return
    _mount(folder, room)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@cache
def can_mount() -> bool:
    """Whether this process may mount a disk that lies in memory."""
    if sys.platform != "linux" or os.geteuid():
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            _mount(Path(folder), 4096)
        except (OSError, subprocess.CalledProcessError):
            return False
        subprocess.run(["umount", folder], check=True)
    return True


def _mount(folder: Path, room: int) -> None:
    given = ["-t", "tmpfs", "-o", f"size={room},mode=700", "tmpfs", str(folder)]
    subprocess.run(["mount", *given], check=True, capture_output=True)


@contextmanager
def short_files(most: int) -> Iterator[None]:
    """No file that this process writes gets longer than so many bytes; Python ignores the signal that comes with it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def short_files_in(_folder: Path, most: int) -> AbstractContextManager[None]:
    """The same for a folder: it holds wherever a file lies."""
    return short_files(most)


@contextmanager
def with_mode(folder: Path, mode: int) -> Iterator[None]:
    """The folder and what lies in it with this mode, seen by a process that owns it and is not root's."""
    paths = [folder, *folder.rglob("*")] if folder.is_dir() else [folder]
    before = {path: stat.S_IMODE(path.stat().st_mode) for path in paths}
    root = os.geteuid() == 0
    for path in reversed(paths):
        path.chmod(mode)
        if root:
            os.chown(path, NOBODY, -1)
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path in paths:
            if root:
                os.chown(path, 0, -1)
            path.chmod(before[path])


DISKS = {"a disk that is full": filling_disk, "files that may not grow": short_files_in}
#: what becomes of a file's bytes
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda data: b"",
    "half of it": lambda data: data[: len(data) // 2],
    "words": lambda data: b"not what it was\n" * (len(data) // 16 + 1),
    "zeros": lambda data: bytes(len(data)),
    "its last bytes changed": lambda data: data[:-8] + bytes(each ^ 255 for each in data[-8:]),
    "a list without end": lambda data: b"[" * 100_000,
}
