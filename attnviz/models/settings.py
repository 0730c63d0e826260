"""The settings of the app, read from environment variables in this one place.

`VARIABLES` documents each; `python -m attnviz.models settings` prints them with their values.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from attnviz.base.message import Problem, Several
from attnviz.base.words import N_
from attnviz.models.engine_address import EngineAddress, parsed

#: variable -> (default, meaning), both as text for a person
VARIABLES: Final = {
    "ATTNVIZ_HOSTED": (
        "0",
        N_("1 when strangers use this server: only the catalogue's models, no folders of the machine"),
    ),
    "ATTNVIZ_MODELS": (
        N_("all (catalogue when hosted)"),
        N_('which models may be loaded: "all", "catalogue", or ids by comma'),
    ),
    "ATTNVIZ_TOKEN_LIMIT": (
        N_("1024 (256 when hosted)"),
        N_("how many tokens a sentence may have; the rest is cut off, with a notice"),
    ),
    "ATTNVIZ_CACHE": (N_("the user's cache folder"), N_("where converted models and prepared traces are kept")),
    "ATTNVIZ_DEVICE": (N_("cuda, mps or cpu, the first that works"), N_("the torch device models are put on")),
    "ATTNVIZ_DTYPE": (N_("float32; on cuda the checkpoint's own"), N_("float32, bfloat16 or float16")),
    "ATTNVIZ_HUB": (N_("1 (0 when hosted)"), N_("0 never asks the hub: only what is on this machine is loaded")),
    "ATTNVIZ_MEMORY_GB": (N_("what the machine has free"), N_("the memory that one model may take")),
    "ATTNVIZ_RUNS_MB": (
        N_("576"),
        N_("the memory that passes over sentences, and what is computed of them, may take together in one process"),
    ),
    "ATTNVIZ_READINGS": (
        N_("nowhere"),
        N_("a folder in which several processes of one server share passes over sentences; its owner's alone"),
    ),
    "ATTNVIZ_ENGINE": (
        N_("here"),
        N_("where models run: in this process, or on Ray, as in ray://local or ray://host:10001?replicas=1-4"),
    ),
    "ATTNVIZ_EMBED": (
        N_("this server's own pages"),
        N_('which pages may embed the app in a frame: "anywhere", or origins by comma, such as https://blog.example'),
    ),
    "ATTNVIZ_LOG": (
        N_("text (json when hosted)"),
        N_('how the server writes its log: "text" as Streamlit does, or "json", lines without a word of any visitor'),
    ),
}

#: variable -> the field of Settings that has its value
FIELDS: Final = {
    "ATTNVIZ_HOSTED": "hosted",
    "ATTNVIZ_MODELS": "models",
    "ATTNVIZ_TOKEN_LIMIT": "token_limit",
    "ATTNVIZ_CACHE": "cache",
    "ATTNVIZ_DEVICE": "device",
    "ATTNVIZ_DTYPE": "dtype",
    "ATTNVIZ_HUB": "hub",
    "ATTNVIZ_MEMORY_GB": "memory_bytes",
    "ATTNVIZ_RUNS_MB": "runs_bytes",
    "ATTNVIZ_READINGS": "readings",
    "ATTNVIZ_ENGINE": "engine",
    "ATTNVIZ_EMBED": "embed",
    "ATTNVIZ_LOG": "log",
}

RUNS_MB: Final = 576
DTYPES: Final = ("float32", "bfloat16", "float16")
LOGS: Final = ("text", "json")
_YES: Final = ("1", "true", "yes", "on")
_NO: Final = ("0", "false", "no", "off", "")


@dataclass(frozen=True)
class Settings:
    """The settings, validated. `models` is "all", "catalogue" or the ids that may be loaded."""

    hosted: bool
    models: str | tuple[str, ...]
    token_limit: int
    cache: Path
    device: str | None  #: None: the first of cuda, mps and cpu that works
    dtype: str | None  #: None: depends on the device
    hub: bool
    memory_bytes: int | None  #: None: the memory that is free when a model is loaded
    runs_bytes: int  #: that passes over sentences and what is computed of them may take
    readings: Path | None  #: where processes of one server share passes; None: nowhere
    engine: EngineAddress | None  #: None: models run in this process
    embed: str | tuple[str, ...]  #: "anywhere", or the origins besides our own that may embed the app
    log: str  #: "text" or "json"


def current() -> Settings:
    """The settings from the current environment; an invalid value is a Problem."""
    hosted = _flag("ATTNVIZ_HOSTED", False)
    return Settings(
        hosted=hosted,
        models=_models(os.environ.get("ATTNVIZ_MODELS", "catalogue" if hosted else "all")),
        token_limit=_whole("ATTNVIZ_TOKEN_LIMIT", 256 if hosted else 1024),
        cache=cache_folder(),
        device=os.environ.get("ATTNVIZ_DEVICE") or None,
        dtype=_one_of("ATTNVIZ_DTYPE", dtype, DTYPES) if (dtype := os.environ.get("ATTNVIZ_DTYPE")) else None,
        hub=_flag("ATTNVIZ_HUB", not hosted) and not _flag("HF_HUB_OFFLINE", False),
        memory_bytes=_whole("ATTNVIZ_MEMORY_GB", 0) * 10**9 or None,
        runs_bytes=_whole("ATTNVIZ_RUNS_MB", RUNS_MB) * 10**6,
        readings=Path(named).expanduser() if (named := os.environ.get("ATTNVIZ_READINGS")) else None,
        engine=parsed(os.environ.get("ATTNVIZ_ENGINE") or "here"),
        embed=_origins(os.environ.get("ATTNVIZ_EMBED", "")),
        log=_one_of("ATTNVIZ_LOG", os.environ.get("ATTNVIZ_LOG") or ("json" if hosted else "text"), LOGS),
    )


def cache_folder() -> Path:
    """ATTNVIZ_CACHE, or the folder `attnviz` in this system's cache location."""
    if chosen := os.environ.get("ATTNVIZ_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "attnviz" / "Cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "attnviz"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "attnviz"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise Problem("This account has no home folder: name a folder for the cache with ATTNVIZ_CACHE") from error


def _flag(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.lower() not in _YES + _NO:
        raise Problem("{name}={value} must be 0 or 1", name=name, value=value)
    return value.lower() in _YES


def _whole(name: str, default: int) -> int:
    value = os.environ.get(name)
    if not value:
        return default
    if not value.isascii() or not value.isdecimal() or int(value) == 0:
        raise Problem("{name}={value} must be a whole number above 0", name=name, value=value)
    return int(value)


def _models(value: str) -> str | tuple[str, ...]:
    if value in ("all", "catalogue"):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _origins(value: str) -> str | tuple[str, ...]:
    """The word "anywhere", or origins in the form of a content security policy; anything else is refused."""
    if value == "anywhere":
        return value
    origins = tuple(part.strip() for part in value.split(",") if part.strip())
    for origin in origins:
        if not re.fullmatch(r"https?://(\*\.)?[\w.-]+(:\d+)?", origin, re.ASCII):
            raise Problem(
                'ATTNVIZ_EMBED={value} must be "anywhere" or origins such as https://blog.example', value=value
            )
    return origins


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise Problem("{name}={value} must be one of {allowed}", name=name, value=value, allowed=Several(allowed))
    return value
