"""The settings of the app, read from environment variables in this one place.

`VARIABLES` documents each; `attnviz models settings` prints them with their values.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from attnviz.base.message import Problem, require_one_of
from attnviz.base.words import N_

#: variable -> (field of Settings, default, meaning), the last two as text for a person
VARIABLES: Final = {
    "ATTNVIZ_HOSTED": (
        "hosted",
        "0",
        N_("1 when strangers use this server: only the catalogue's models, no folders of the machine"),
    ),
    "ATTNVIZ_MODELS": (
        "models",
        N_("all (catalogue when hosted)"),
        N_('which models may be loaded: "all", "catalogue", or ids by comma'),
    ),
    "ATTNVIZ_TOKEN_LIMIT": (
        "token_limit",
        N_("1024 (256 when hosted)"),
        N_("how many tokens a sentence may have; the rest is cut off, with a notice"),
    ),
    "ATTNVIZ_TEXT_LIMIT": (
        "text_limit",
        N_("8192 (the limit of a sentence when hosted)"),
        N_("how many tokens a long text on Explore may have, where memory allows; the rest is cut off, with a notice"),
    ),
    "ATTNVIZ_CACHE": (
        "cache",
        N_("the user's cache folder"),
        N_("where converted models and prepared traces are kept"),
    ),
    "ATTNVIZ_DEVICE": (
        "device",
        N_("cuda, mps or cpu, the first that works"),
        N_("the torch device models are put on"),
    ),
    "ATTNVIZ_DTYPE": ("dtype", N_("float32; on cuda the checkpoint's own"), N_("float32, bfloat16 or float16")),
    "ATTNVIZ_HUB": ("hub", N_("1 (0 when hosted)"), N_("0 never asks the hub: only what is on this machine is loaded")),
    "ATTNVIZ_MEMORY_GB": ("memory_bytes", N_("what the machine has free"), N_("the memory that one model may take")),
    "ATTNVIZ_RUNS_MB": (
        "runs_bytes",
        N_("576"),
        N_("the memory that passes over sentences, and what is computed of them, may take together in one process"),
    ),
    "ATTNVIZ_PROCESS_MB": (
        "process_bytes",
        N_("0.85 of the machine's memory; for a class, by the processes"),
        N_("the memory of its own from which on a process refuses work, and a class's server renews it"),
    ),
    "ATTNVIZ_READINGS": (
        "readings",
        N_("nowhere"),
        N_("a folder in which several processes of one server share passes over sentences; its owner's alone"),
    ),
    "ATTNVIZ_ENGINE": (
        "engine",
        N_("here"),
        N_("where models run: in this process, or on Ray, as in ray://local or ray://host:10001?replicas=1-4"),
    ),
    "ATTNVIZ_EMBED": (
        "embed",
        N_("this server's own pages"),
        N_(
            'which pages may embed the app in a frame: "anywhere", origins by comma, such as https://blog.example, or '
            '"this-machine" (what make run says; never when hosted)'
        ),
    ),
    "ATTNVIZ_SITE": (
        "site",
        N_("none"),
        N_("where a folder that attnviz site wrote is served; the explorer then has a link to it"),
    ),
    "ATTNVIZ_ROOMS": (
        "rooms",
        N_("a folder in the cache folder"),
        N_('where rooms of classes are kept while they last; "off": nobody opens one'),
    ),
    "ATTNVIZ_ROOM_PHONES": (
        "room_phones",
        N_("2000"),
        N_("how many phones may be in rooms at once, on the whole server"),
    ),
    "ATTNVIZ_ADDRESS": (
        "address",
        N_("what the lecturer's browser says"),
        N_("the address of the app as phones in a room reach it, such as http://10.0.0.7:8501"),
    ),
    "ATTNVIZ_LOG": (
        "log",
        N_("text (json when hosted)"),
        N_('how the server writes its log: "text" as Streamlit does, or "json", lines without a word of any visitor'),
    ),
}

#: Pages of this machine: of any server on it, and files.
THIS_MACHINE: Final = ("http://localhost:*", "http://127.0.0.1:*", "file:")
RUNS_MB: Final = 576
DTYPES: Final = ("float32", "bfloat16", "float16")
LOGS: Final = ("text", "json")
_YES: Final = ("1", "true", "yes", "on")
_NO: Final = ("0", "false", "no", "off", "")
#: of a system the variable that names its caches, where they are else below the home folder, and the app's among them
_CACHES: Final = {
    "win32": ("LOCALAPPDATA", "AppData/Local", "attnviz/Cache"),
    "darwin": ("", "Library/Caches", "attnviz"),
}


MOST: Final = 10**6  #: of anything that an address of Ray counts


@dataclass(frozen=True)
class EngineAddress:
    """Address and limits of a Ray cluster.

    `host` "local" starts one on this machine, "auto" joins the one that this machine is part of; anything else is the
    host and port of a cluster's client server.
    """

    host: str
    replicas: tuple[int, int] = (1, 2)  #: fewest and most processes that hold models; between them, as work demands
    queue: int = 32  #: passes that may wait at each process of the app; one more is refused
    timeout: int = 60  #: seconds after which a visitor is told that no answer came
    cpus: int = 2  #: processors that a Ray on this machine may use
    threads: int = 1  #: of arithmetic in each replica
    gpus: float | None = None  #: of each replica; None: one where the cluster has any


@dataclass(frozen=True)
class Settings:
    """The settings, validated. `models` is "all", "catalogue" or the ids that may be loaded."""

    hosted: bool
    models: str | tuple[str, ...]
    token_limit: int
    text_limit: int  #: tokens of a long text, which Explore alone reads
    cache: Path
    device: str | None  #: None: the first of cuda, mps and cpu that works
    dtype: str | None  #: None: depends on the device
    hub: bool
    memory_bytes: int | None  #: None: the memory that is free when a model is loaded
    runs_bytes: int  #: that passes over sentences and what is computed of them may take
    process_bytes: int | None  #: of its own from which on a process refuses work; None: it never does
    readings: Path | None  #: where processes of one server share passes; None: nowhere
    engine: EngineAddress | None  #: None: models run in this process
    embed: str | tuple[str, ...]  #: "anywhere", or the origins besides our own that may embed the app
    site: str | None  #: the address of an explorer without a server
    rooms: Path | None  #: where rooms of classes are kept; None: there are none
    room_phones: int  #: that may be in rooms at once, on the whole server
    address: str | None  #: of the app, as phones in a room reach it
    log: str  #: "text" or "json"


def current_settings() -> Settings:
    """The settings from the current environment; an invalid value is a Problem."""
    hosted = _flag("ATTNVIZ_HOSTED", False)
    models = os.environ.get("ATTNVIZ_MODELS", "catalogue" if hosted else "all")
    return Settings(
        hosted=hosted,
        models=models if models in ("all", "catalogue") else _split_list(models),
        token_limit=(token_limit := _positive_integer("ATTNVIZ_TOKEN_LIMIT", 256 if hosted else 1024)),
        text_limit=_positive_integer("ATTNVIZ_TEXT_LIMIT", token_limit if hosted else max(8192, token_limit)),
        cache=cache_folder(),
        device=os.environ.get("ATTNVIZ_DEVICE") or None,
        dtype=require_one_of("ATTNVIZ_DTYPE", dtype, DTYPES) if (dtype := os.environ.get("ATTNVIZ_DTYPE")) else None,
        hub=_flag("ATTNVIZ_HUB", not hosted) and not _flag("HF_HUB_OFFLINE", False),
        memory_bytes=_positive_integer("ATTNVIZ_MEMORY_GB", 0) * 10**9 or None,
        runs_bytes=_positive_integer("ATTNVIZ_RUNS_MB", RUNS_MB) * 10**6,
        process_bytes=_positive_integer("ATTNVIZ_PROCESS_MB", 0) * 10**6 or None,
        readings=Path(named).expanduser() if (named := os.environ.get("ATTNVIZ_READINGS")) else None,
        engine=engine_address(os.environ.get("ATTNVIZ_ENGINE", "")),
        embed=_origins(os.environ.get("ATTNVIZ_EMBED", ""), hosted),
        site=_web_address("ATTNVIZ_SITE"),
        rooms=_rooms_folder(os.environ.get("ATTNVIZ_ROOMS", "")),
        room_phones=_positive_integer("ATTNVIZ_ROOM_PHONES", 2000),
        address=_web_address("ATTNVIZ_ADDRESS"),
        log=require_one_of("ATTNVIZ_LOG", os.environ.get("ATTNVIZ_LOG") or ("json" if hosted else "text"), LOGS),
    )


def cache_folder() -> Path:
    """ATTNVIZ_CACHE, or the folder `attnviz` in this system's cache location."""
    if chosen := os.environ.get("ATTNVIZ_CACHE"):
        return Path(chosen).expanduser()
    variable, default_base, folder_name = _CACHES.get(sys.platform, ("XDG_CACHE_HOME", ".cache", "attnviz"))
    named, home = os.environ.get(variable), os.path.expanduser("~")
    if not named and home == "~":
        raise Problem("This account has no home folder: name a folder for the cache with ATTNVIZ_CACHE")
    return Path(named or f"{home}/{default_base}") / folder_name


def _flag(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.lower() not in _YES + _NO:
        raise Problem("{name}={value} must be 0 or 1", name=name, value=value)
    return value.lower() in _YES


def _positive_integer(name: str, default: int) -> int:
    value = os.environ.get(name)
    if not value:
        return default
    if not value.isascii() or not value.isdecimal() or int(value) == 0:
        raise Problem("{name}={value} must be a whole number above 0", name=name, value=value)
    return int(value)


def _origins(value: str, hosted: bool) -> str | tuple[str, ...]:
    """The word "anywhere", or origins in the form of a content security policy; anything else is refused."""
    if value == "anywhere":
        return value
    if value == "this-machine" and not hosted:
        return THIS_MACHINE
    origins = _split_list(value)
    for origin in origins:
        if not re.fullmatch(r"https?://(\*\.)?[\w.-]+(:\d+)?", origin, re.ASCII):
            raise Problem(
                'ATTNVIZ_EMBED={value} must be "anywhere" or origins such as https://blog.example', value=value
            )
    return origins


def _web_address(name: str) -> str | None:
    value = os.environ.get(name)
    if value and urlsplit(value).scheme not in ("http", "https"):
        raise Problem("{name}={value} must be an address that begins with http:// or https://", name=name, value=value)
    return value or None


def _rooms_folder(value: str) -> Path | None:
    if value.lower() in _NO[:-1]:
        return None
    return Path(value).expanduser() if value else cache_folder() / "rooms"


def _split_list(value: str) -> tuple[str, ...]:
    return tuple(entry.strip() for entry in value.split(",") if entry.strip())


def engine_address(value: str) -> EngineAddress | None:
    """The address that a setting's value stands for; None for this process. Nonsense is a Problem."""
    if value in ("", "here"):
        return None
    unknown = Problem(
        "ATTNVIZ_ENGINE={value} must be here, ray, ray://local, ray://auto or ray://host:port, with ?replicas=1-4 and "
        "others behind it",
        value=value,
    )
    try:
        parts = urlsplit("ray://local" if value == "ray" else value)
        wants_port = parts.hostname not in ("local", "auto")
        fits = parts.scheme == "ray" and parts.hostname and (parts.port is not None) == wants_port
    except ValueError:
        raise unknown from None
    if not fits or parts.path or parts.fragment or parts.username is not None:
        raise unknown
    fields = dict(_engine_field(value, name, option) for name, option in parse_qsl(parts.query, keep_blank_values=True))
    return EngineAddress(parts.netloc, **fields)  # type: ignore[arg-type]


def _engine_field(value: str, name: str, option: str) -> tuple[str, object]:
    try:
        if name == "replicas":
            least, _, most = option.partition("-")
            pair = _small_number(least), _small_number(most or least)
            if pair[0] <= pair[1]:
                return name, pair
        elif name in ("queue", "timeout", "cpus", "threads"):
            return name, _small_number(option)
        elif name == "gpus" and 0 <= float(option) <= MOST:
            return name, float(option)
    except ValueError:
        pass
    raise Problem(
        "ATTNVIZ_ENGINE={value}: {name}={told} is not understood; there are replicas=1-4, queue=32, timeout=60, "
        "cpus=2, threads=1 and gpus=0.5",
        value=value,
        name=name,
        told=option,
    )


def _small_number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 8 and 0 < int(text) <= MOST):
        raise ValueError(text)
    return int(text)
