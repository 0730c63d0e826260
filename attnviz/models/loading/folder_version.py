"""Which state of a visitor's own folder a model was read from, so that one overwritten on the disk is read anew."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from attnviz.base.message import Problem
from attnviz.models.catalogue import Entry, find
from attnviz.models.loading import lora_adapter
from attnviz.models.settings import current

_READ: Final = (".safetensors", ".json", ".txt", ".model", ".spm", ".jinja")


def version(name: str) -> str:
    """Changes whenever a file of the model is written to; "" for models that do not lie in a folder.

    Looks at the files' places, sizes and times and reads none of them, so that it may be asked at every turn.
    """
    return version_now(find(name, current()))


def version_now(entry: Entry) -> str:
    """The same of an entry."""
    try:
        return "" if entry.folder is None else version_of(entry.folder) + _base_version(entry.folder)
    except OSError as error:
        raise Problem("The folder {name} cannot be read: {reason}", name=entry.name, reason=error.strerror) from error


def _base_version(folder: Path) -> str:
    """Of the folder that an adapter is added to."""
    base = lora_adapter.base_of(folder)
    if base is None:
        return ""
    try:
        found = find(base, current()).folder
    except Problem:
        return ""
    return "" if found is None else version_of(found)


def version_of(folder: Path) -> str:
    """The same of a folder. A copy that keeps size and time of change of the file before still has another inode
    or another time at which its entry changed."""
    told: list[object] = [str(folder.resolve())]
    for file in sorted(folder.iterdir()):
        if file.suffix in _READ:
            try:
                facts = file.stat()
            except OSError:  # gone meanwhile, or a link to nothing
                continue
            told.append([file.name, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino])
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
