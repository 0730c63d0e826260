"""The import rules of pyproject.toml hold, and each of them notices when it is broken."""

from __future__ import annotations

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
    """The package and its settings, where a rule may be broken."""
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(ROOT / "attnviz", folder / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_package_keeps_its_rules(copy: Path) -> None:
    answer = lint(copy)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize(
    "layer, line, rule",
    [
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
    ],
)
def test_a_planted_import_breaks_its_rule(copy: Path, layer: str, line: str, rule: str) -> None:
    planted = copy / "attnviz" / layer / "planted.py"
    planted.write_text(f"{line}\n", encoding="utf-8")
    try:
        answer = lint(copy)
    finally:
        planted.unlink()
    broken = [said for said in answer.stdout.splitlines() if said.endswith("BROKEN")]
    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert any(said.startswith(rule) for said in broken), answer.stdout
