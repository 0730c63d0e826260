"""Passes that several processes of one server share, in a folder on the disk that goes with the server.

Where ATTNVIZ_READINGS names a folder, the trace of a sentence is written there once and read by every other process
that is asked for the same sentence. A file's name is a hash of the whole request: who does not know the sentence
cannot find its file. The folder is the owner's alone, holds at most LIMIT bytes, and loses its oldest files first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from attnviz.core.message import Problem
from attnviz.models.capture import Trace
from attnviz.models.settings import current

LIMIT = 2 * 10**9  # bytes
SUFFIX = ".safetensors"


def find_reading(request: dict[str, Any]) -> Trace | None:
    """The trace that another process wrote for exactly this request, all of its parts; None where there is none."""
    path = _place(request)
    if path is None or not path.exists():
        return None
    try:
        trace = Trace.load(path)
    except (Problem, OSError):  # removed or cut short meanwhile: the model is run instead
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used now: it goes last
    return trace


def keep_reading(request: dict[str, Any], trace: Trace) -> None:
    """Write the trace for other processes. A full disk is no reason to fail: it is then not shared."""
    path = _place(request)
    if path is None or path.exists():
        return
    unfinished = path.with_name(f"{path.stem}.{os.getpid()}.part")
    try:
        trace.save(unfinished)
        unfinished.chmod(0o600)
        unfinished.replace(path)
        _make_room(path.parent)
    except (Problem, OSError):
        unfinished.unlink(missing_ok=True)


def _place(request: dict[str, Any]) -> Path | None:
    """The file of a request, in a folder that is ours alone; None where nothing is shared."""
    folder = current().readings
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            return None  # others could read visitors' sentences there
    except OSError:
        return None
    whole = json.dumps(request, sort_keys=True)
    return folder / (hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest() + SUFFIX)


def _make_room(folder: Path) -> None:
    files = []
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            known = path.stat()
            files.append((known.st_mtime, known.st_size, path))
    held = sum(size for _time, size, _path in files)
    for _time, size, path in sorted(files)[:-1]:
        if held <= LIMIT:
            return
        path.unlink(missing_ok=True)
        held -= size
