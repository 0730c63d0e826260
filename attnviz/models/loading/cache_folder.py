"""Folders in the app's own cache: written under a temporary name, then renamed; verified when opened.

Each folder contains `manifest.json` with the size and SHA-256 of every file. The process that builds a
folder holds a lock, which the system releases when the process ends, so two processes never build the
same folder, and no process waits for one that has died.
"""

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from attnviz.base.message import Problem
from attnviz.models.file_faults import DAMAGED, FAILED, first_line

MANIFEST: Final = "manifest.json"
_PARTIAL: Final = ".partial-"


def is_whole(folder: Path) -> bool:
    """Whether every file exists with the size it was written with. Reads only the manifest."""
    files = _manifest(folder)
    try:
        return bool(files) and all((folder / name).stat().st_size == size for name, (size, _) in files.items())
    except OSError:
        return False


def is_intact(folder: Path, *names: str) -> bool:
    """Whether every file, or those named, still has the hash it was written with; no file may be gone.

    Reads every byte; hashing releases the GIL.
    """
    files = _manifest(folder)
    try:
        return is_whole(folder) and all(sha256(folder / name) == files[name][1] for name in names or files)
    except (OSError, KeyError):
        return False


def build(folder: Path, write: Callable[[Path], None], name: str, *, unless_whole: bool = True) -> None:
    """Have `write` fill a new folder, then replace `folder` by it in one step; on failure nothing changes.

    With `unless_whole`, returns without writing if the folder is complete, for instance because another
    process built it while this one waited for the lock. `name` is the model whose files they are, for an error.
    """
    with lock_folder(folder):
        if unless_whole and is_whole(folder):
            return
        for leftover in folder.parent.glob(f"{folder.name}{_PARTIAL}*"):  # of writers that died: the lock is ours
            shutil.rmtree(leftover, ignore_errors=True)
        fresh = folder.with_name(f"{folder.name}{_PARTIAL}{os.getpid()}-{uuid.uuid4().hex[:8]}")
        try:
            fresh.mkdir(parents=True)
            write(fresh)
            _write_manifest(fresh)
            discard(folder)
            os.replace(fresh, folder)
        except FAILED as error:
            raise Problem(
                "{name} could not be stored in the cache folder: {reason}", name=name, reason=first_line(error)
            ) from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def discard(folder: Path) -> None:
    """Rename a folder, then delete it. A reader that has its files open can go on reading them."""
    if folder.exists():
        aside = folder.with_name(f"{folder.name}{_PARTIAL}old-{uuid.uuid4().hex[:8]}")
        os.replace(folder, aside)
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Wait for the lock for building `folder`, and hold it inside the block."""
    import filelock

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder.with_name(folder.name + ".lock")).acquire()
    except OSError as error:
        raise Problem(
            "The cache folder {folder} cannot be written: {reason}; ATTNVIZ_CACHE names another",
            folder=str(folder.parent),
            reason=first_line(error),
        ) from error
    with lock:
        yield


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def free_bytes(folder: Path) -> int:
    """Free bytes on the disk where `folder` is, or will be created."""
    while not os.path.exists(folder) and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _manifest(folder: Path) -> dict[str, tuple[int, str]]:
    """Size in bytes and SHA-256 by file name; empty if the manifest is missing or invalid."""
    try:
        return {
            name: (facts["size"], facts["sha256"])
            for name, facts in json.loads((folder / MANIFEST).read_text("utf-8"))["files"].items()
        }
    except DAMAGED:
        return {}


def _write_manifest(folder: Path) -> None:
    files = {
        path.relative_to(folder).as_posix(): {"size": path.stat().st_size, "sha256": sha256(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    (folder / MANIFEST).write_text(json.dumps({"files": files}, indent=1), "utf-8")
