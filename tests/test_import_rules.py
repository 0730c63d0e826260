"""The import rules of pyproject.toml hold, and each of them notices when it is broken."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import faces

ROOT = Path(__file__).parents[1]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and its settings, in which a test may break a rule."""
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(ROOT / "attnviz", folder / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_package_keeps_its_rules(copy: Path) -> None:
    answer = lint(copy)
    assert answer.returncode == 0, answer.stdout + answer.stderr


#: a folder, an import that has no place there, and the rule that it breaks
PLANTED = (
    ("core", "import attnviz.models", "Imports run one way"),
    ("models", "import attnviz.experiments", "Imports run one way"),
    ("experiments", "import attnviz.ui", "Imports run one way"),
    ("core", "import numpy", "The core knows torch and the standard library only"),
    ("core", "import attnviz.words", "The core knows torch and the standard library only"),
    ("figures", "import torch", "Figures take arrays"),
    ("figures", "import attnviz.core", "Figures take arrays"),
    ("experiments", "import transformers", "Only models knows transformers"),
    ("ui", "import plotly", "Only figures knows plotly"),
    ("models", "import streamlit", "Only ui knows streamlit"),
    ("ui", "import attnviz.models.capture", "ui reaches four packages of models"),
    ("ui", "from attnviz.models.tokens import encode", "ui reaches four packages of models"),
)


def test_each_planted_import_breaks_its_rule(copy: Path) -> None:
    """All at once, each in a module of its own, which its rule names."""
    files = [copy / "attnviz" / layer / f"planted_{number}.py" for number, (layer, *_) in enumerate(PLANTED)]
    for file, (_layer, line, _rule) in zip(files, PLANTED, strict=True):
        file.write_text(f"{line}\n", encoding="utf-8")
    try:
        answer = lint(copy)
    finally:
        for file in files:
            file.unlink()
    assert answer.returncode == 1, answer.stdout + answer.stderr
    said = reports(answer.stdout)
    for file, (_layer, line, rule) in zip(files, PLANTED, strict=True):
        module = ".".join(file.relative_to(copy).with_suffix("").parts)
        assert any(name.startswith(rule) and module in report for name, report in said.items()), (line, answer.stdout)


def test_a_circle_between_packages_is_found(copy: Path) -> None:
    planted = copy / "attnviz" / "models" / "catalogue" / "planted.py"
    planted.write_text("def late():\n    import attnviz.models.loading\n", encoding="utf-8")
    try:
        answer = lint(copy)
    finally:
        planted.unlink()
    assert answer.returncode == 1
    assert "No import circle BROKEN" in answer.stdout


def reports(said: str) -> dict[str, str]:
    """What the linter says of each broken rule, below the rule's name underlined."""
    broken = said.partition("Broken contracts")[2]
    named = re.split(r"^(.+)\n-+$", broken, flags=re.MULTILINE)[1:]
    return dict(zip(named[::2], named[1::2], strict=True))


def test_a_circle_inside_a_package_is_found_where_an_import_hides_in_a_function(copy: Path) -> None:
    changed = copy / "attnviz" / "models" / "loading" / "hub_download.py"
    before = changed.read_text("utf-8")
    changed.write_text(f"{before}\n\ndef late():\n    from attnviz.models.loading.load_model import load\n", "utf-8")
    try:
        answer = lint(copy)
    finally:
        changed.write_text(before, "utf-8")
    assert answer.returncode == 1
    assert "No import circle BROKEN" in answer.stdout


def test_everybody_imports_through_faces(copy: Path) -> None:
    assert faces.breaches(copy) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "place, line, sentence",
    [
        ("experiments", "from attnviz.models.capture.run import capture", "import from attnviz.models.capture"),
        ("ui/masks", "import attnviz.models.loading.locate", "import from attnviz.models.loading"),
        (
            "ui/masks",
            "from attnviz.models.loading import locate",
            "locate is not in the face",
        ),
        ("ui", "def late():\n    from attnviz.ui.scaling import hero", "hero is not in the face"),
        ("ui", "from attnviz.experiments.masks.traps import TRAPS", "import from attnviz.experiments.masks"),
        ("ui", "from .shared import choice", "write the whole name"),
        ("models/tokens", "from attnviz.models.tokens import encode", "from its face: a circle"),
        ("models/bare", "", "a package without __init__.py"),
    ],
)
def test_an_import_past_a_face_is_named(copy: Path, place: str, line: str, sentence: str) -> None:
    planted = copy / "attnviz" / place / "planted.py"
    new_folder = not planted.parent.exists()
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(f"{line}\n", encoding="utf-8")
    try:
        found = faces.breaches(copy)
    finally:
        planted.unlink()
        if new_folder:
            planted.parent.rmdir()
    assert len(found) == 1, found
    assert sentence in found[0]


def test_modules_of_a_layer_and_of_the_same_package_are_open(copy: Path) -> None:
    planted = copy / "attnviz" / "models" / "tokens" / "planted.py"
    planted.write_text(
        "from attnviz.core.attention import attend\nfrom attnviz.models.tokens.encoding import encode\n"
        "from attnviz.models.tokens import token_text\nfrom attnviz.models import settings\n",
        encoding="utf-8",
    )
    try:
        assert faces.breaches(copy) == []
    finally:
        planted.unlink()
