"""The locked versions: what the pins say, each with hashes, and enough to run the app."""

import re
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts import locked
from tests.wheel import environments
from tests.wheel.conftest import Installed

ENTRIES = [each for path in (locked.EVERYTHING, locked.TORCH) for each in locked.packages(path.read_text("utf-8"))]


def requirement(entry: str) -> Requirement:
    return Requirement(entry.partition("\\")[0])


def test_every_pin_is_locked_at_its_version():
    pins = re.sub(r"#.*", "", (locked.ROOT / "requirements-pins.txt").read_text("utf-8"))
    wanted = {Requirement(line) for line in pins.splitlines() if line}
    have = {(each.name.lower().replace("_", "-"), str(each.specifier)) for each in map(requirement, ENTRIES)}
    assert wanted
    for pin in wanted:
        assert (pin.name.lower().replace("_", "-"), str(pin.specifier)) in have


@pytest.mark.parametrize("path", [locked.EVERYTHING, locked.TORCH, locked.MODELS], ids=lambda path: path.name)
def test_every_package_has_the_hashes_of_its_files_and_no_address(path):
    entries = locked.packages(path.read_text("utf-8"))
    assert entries
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", entry), entry
        assert re.match(r"[\w.-]+==[\w.]+\s", entry), entry
    assert "://" not in path.read_text("utf-8")


@pytest.mark.parametrize("file", ["Makefile", "deploy/Dockerfile"])
def test_whoever_installs_the_app_installs_the_locked_files_and_nothing_else(file):
    """By hash, or from this machine alone; but another build of torch, for which there is a place to say so."""
    text = re.sub(r"\\\n", " ", (locked.ROOT / file).read_text("utf-8"))
    if file == "Makefile":  # what the app needs, not what checks need
        text = text[text.index("\n.venv/installed:") : text.index("install-dev: ")]
    commands = [each for each in re.split(r"\n|&&|\|\||;", text) if re.search(r"(\$\(PIP\)|pip install) --", each)]
    assert len(commands) >= 4
    for each in commands:
        assert "--no-deps" in each
        alone = re.search("--require-hashes|--no-index|-e [.]", each) or '--index-url "$TORCH_INDEX"' in each
        assert alone, each
    for path in (locked.EVERYTHING, locked.TORCH, locked.MODELS):
        assert any("--require-hashes" in each and each.rstrip("; fi").endswith(path.name) for each in commands)


@pytest.mark.slow
@pytest.mark.skipif(environments.uv() is None, reason="uv, which installs the locked versions, is not installed")
def test_the_locked_versions_are_all_that_the_app_needs(wheel: Path, tmp_path: Path):
    """By hash and without looking for anything else; then nothing is missing, and a figure of a page is made."""
    away = tmp_path / "away"
    away.mkdir()
    app = Installed(environments.locked(tmp_path / "venv", wheel, locked.EVERYTHING), away)
    check = subprocess.run(
        [str(environments.uv()), "pip", "check", "--python", str(app.python)],
        capture_output=True,
        text=True,
        check=False,
    )
    missing = [line for line in check.stderr.splitlines() if "requires" in line]
    assert missing == []
    made = app.run(app.attnviz, "figure", "sharing", "-o", "sharing.csv")
    assert made.returncode == 0, made.stderr
    assert len((away / "sharing.csv").read_text().splitlines()) == 7, (
        "a heading; 32 query heads on 1, 2, 4 to 32 K/V heads"
    )
