"""The import rules of pyproject.toml hold, and each of them notices when it is broken."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    ("models", "import attnviz.runs", "Imports run one way"),
    ("runs", "import attnviz.app", "Imports run one way"),
    ("app", "import attnviz.pages.scaling.choices", "Imports run one way"),
    ("pages/masks", "import attnviz.pages.scaling.choices", "No page knows another"),
    ("pages/masks/maths", "import attnviz.pages.masks.panels.workbench", "Inside a page"),
    ("pages/masks/maths", "import attnviz.app.widgets", "Maths knows neither"),
    ("pages/masks/maths", "import attnviz.figures.theme", "Maths knows neither"),
    ("core", "import numpy", "The core knows torch and the standard library only"),
    ("core", "import attnviz.base.words", "The core knows torch and the standard library only"),
    ("figures", "import torch", "Figures take arrays"),
    ("pages/scaling/figures", "import attnviz.core.masks", "Figures take arrays"),
    ("pages/masks/maths", "import transformers", "Only models knows transformers"),
    ("pages/masks/panels", "import plotly", "Only figures knows plotly"),
    ("models", "import streamlit", "The library knows no Streamlit"),
    ("live", "import torch", "A live file"),
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
