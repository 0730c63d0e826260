"""Find a model by name: one of the catalogue, any other on the hub, or a folder, if the settings allow it.

Cheap to import, because it needs neither torch nor transformers. The catalogue itself is in `entries.py`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from attnviz.base.message import Problem, Several
from attnviz.models.catalogue.entries import CATALOGUE
from attnviz.models.catalogue.entry import Entry
from attnviz.models.settings import Settings, current

#: owner/name or an old one-word id; refuses two dots in a row and a slash at either end
_HUB_ID: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


def all_entries() -> tuple[Entry, ...]:
    """The whole catalogue, packaged models first."""
    return CATALOGUE


def allowed_entries(settings: Settings | None = None) -> tuple[Entry, ...]:
    """The models of the catalogue that the settings allow."""
    settings = settings or current()
    return tuple(entry for entry in all_entries() if _allowed(entry, settings))


def find(name: str, settings: Settings | None = None) -> Entry:
    """The entry for a catalogue id, a hub id or a local folder; a Problem if there is none or it is not allowed."""
    settings = settings or current()
    entry = _named(name.strip(), settings)
    if not _allowed(entry, settings):
        known = Several([e.id for e in allowed_entries(settings)])
        raise Problem("The model {name} may not be loaded on this server; these may: {known}", name=name, known=known)
    return entry


def _named(name: str, settings: Settings) -> Entry:
    for entry in all_entries():
        if name.lower() in (entry.id, entry.hub and entry.hub.lower()):
            return entry
    if not settings.hosted and _looks_like_a_folder(name):
        folder = _folder(name)
        if folder is None:
            raise Problem("There is no folder {name} on this machine", name=name)
        return Entry(id=str(folder), name=folder.name, hub=None, folder=folder)
    if not _HUB_ID.fullmatch(name):
        raise Problem(
            "{name} is not the name of a model: give a name from the list, or owner/name as on the hub",
            name=name[:100],
        )
    return Entry(id=name, name=name, hub=name)


def _folder(name: str) -> Path | None:
    try:
        folder = Path(name).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, ValueError, RuntimeError):  # too long, a NUL in it, no such user
        return None


def _looks_like_a_folder(name: str) -> bool:
    return name.startswith(("/", "./", "../", "~", ".\\")) or (len(name) > 2 and name[1] == ":")


def _allowed(entry: Entry, settings: Settings) -> bool:
    if settings.models == "all":
        return True
    if settings.models == "catalogue":
        return entry.in_catalogue
    return entry.id in settings.models or (entry.hub or "") in settings.models
