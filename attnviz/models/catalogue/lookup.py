"""The models the app knows by name: what each is good for, how large it is, where it comes from.

Cheap to import: neither torch nor transformers. The table itself is in `shelf.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from attnviz.core.message import Problem
from attnviz.models.settings import Settings, current

Kind = Literal["decoder", "encoder", "encoder-decoder", "pictures"]


@dataclass(frozen=True)
class WheelFile:
    """Where an installed package keeps a model: a folder with safetensors, or one GGUF file."""

    package: str  #: the package as pip knows it, for the sentence that says how to get it
    module: str  #: found with find_spec, never imported
    path: str  #: inside the package
    size: int  #: bytes of the weights file
    sha256: str  #: of the weights file

    @property
    def is_gguf(self) -> bool:
        return self.path.endswith(".gguf")


@dataclass(frozen=True)
class Entry:
    """One model. Numbers of a model outside the catalogue are 0: not known before its config is read."""

    id: str  #: short, goes into links
    name: str
    hub: str | None  #: hub id; None for a local folder
    kind: Kind | None = None
    shows: str = ""  #: what it is good for; a sentence to translate
    licence: str = ""
    layers: int = 0
    heads: int = 0
    kv_heads: int = 0
    download_mb: int = 0
    memory_mb: int = 0  #: weights in float32, in memory
    wheel: WheelFile | None = None
    folder: Path | None = None
    revision: str | None = None

    @property
    def in_catalogue(self) -> bool:
        return self.licence != ""


#: owner/name or an old one-word id; two dots in a row and a slash at an end are no id
_HUB_ID: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def entries() -> tuple[Entry, ...]:
    """The catalogue, those that need no hub first."""
    from attnviz.models.catalogue.entries import SHELF

    return SHELF


def allowed_entries(settings: Settings | None = None) -> tuple[Entry, ...]:
    """The catalogue's models that may be loaded here."""
    settings = settings or current()
    return tuple(entry for entry in entries() if _allowed(entry, settings))


def find(name: str, settings: Settings | None = None) -> Entry:
    """The entry for a catalogue id, a hub id or a local folder, if it may be loaded here."""
    settings = settings or current()
    entry = _named(name.strip(), settings)
    if not _allowed(entry, settings):
        known = ", ".join(e.id for e in allowed_entries(settings))
        raise Problem("The model {name} may not be loaded on this server; these may: {known}", name=name, known=known)
    return entry


def _named(name: str, settings: Settings) -> Entry:
    for entry in entries():
        if name.lower() in (entry.id, (entry.hub or "").lower()):
            return entry
    if not settings.hosted and _looks_like_a_folder(name):
        folder = Path(name).expanduser()
        if not folder.is_dir():
            raise Problem("There is no folder {name} on this machine", name=name)
        return Entry(id=str(folder), name=folder.name, hub=None, folder=folder)
    if not _HUB_ID.fullmatch(name):
        raise Problem(
            "{name} is not the name of a model: give a name from the list, or owner/name as on the hub",
            name=name[:100],
        )
    return Entry(id=name, name=name, hub=name)


def _looks_like_a_folder(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~", ".\\")) or (len(name) > 2 and name[1] == ":")


def _allowed(entry: Entry, settings: Settings) -> bool:
    if settings.models == "all":
        return True
    if settings.models == "catalogue":
        return entry.in_catalogue
    return entry.id in settings.models or (entry.hub or "") in settings.models
