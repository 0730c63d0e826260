"""The README is true: its example runs, and its commands and pictures exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from attnviz.ui.web.navigation import ROWS
from tests.models.conftest import smollm2

__all__ = ["smollm2"]

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_the_notebook_example_runs_and_finds_the_animal(smollm2):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    assert len(code.strip().splitlines()) <= 10
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    found = eval(done.stdout)
    assert max(found, key=found.get) == "animal"


def test_every_file_that_is_pointed_to_exists():
    missing = [name for name in re.findall(r"\]\(([^)#:]+)\)", README) if not (ROOT / name).exists()]
    assert not missing


def test_every_file_that_the_architecture_names_exists():
    """Capitals stand for a name to be chosen, as in pages/NAME.py."""
    quoted = re.findall(r"`([\w./*-]+)`", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    paths = [
        name for name in quoted if re.search(r"\w/\w|\.(py|js|md|toml|txt)$", name) and not re.search("[A-Z]{4}", name)
    ]
    assert len(paths) > 60
    around = (ROOT, ROOT / "attnviz", ROOT / "attnviz/ui", ROOT / "attnviz/models", ROOT / "attnviz/ui/canvas")
    missing = [
        name
        for name in paths
        if not any(list(folder.glob(name)) for folder in around)
        and not any(list((ROOT / part).rglob(name)) for part in ("attnviz", "tests"))
    ]
    assert not missing


def test_every_make_command_named_exists():
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"^make ([a-z-]+)", README, re.M)) <= rules


def test_every_page_is_described():
    for row in ROWS:
        assert f"**{row.title}**" in README
