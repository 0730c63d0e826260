"""The import rules of pyproject.toml hold, and each of them notices when it is broken."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


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


#: a module, what is written at its end, and how the circle is told: of packages, and of modules by way of a function
CIRCLES = (
    (
        "models/catalogue/planted.py",
        "def late():\n    import attnviz.models.loading\n",
        r"attnviz\.models\.\n.*\n\n- \.catalogue -> \.loading",
    ),
    (
        "models/loading/hub_download.py",
        "\n\ndef late():\n    from attnviz.models.loading.load_model import load\n",
        r"attnviz\.models\.loading\.\n.*\n\n- \.load_model -> \.hub_download",
    ),
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the linter says of each broken rule, in a copy of the package in which all are broken at once.

    That the package itself breaks none is seen by `make imports`.
    """
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(ROOT / "attnviz", folder / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for number, (layer, line, _rule) in enumerate(PLANTED):
        (folder / "attnviz" / layer / f"planted_{number}.py").write_text(f"{line}\n", encoding="utf-8")
    for name, text, _told in CIRCLES:
        with (folder / "attnviz" / name).open("a", encoding="utf-8") as file:
            file.write(text)
    program = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    answer = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert answer.returncode == 1, answer.stdout + answer.stderr
    named = re.split(r"^(.+)\n-+$", answer.stdout.partition("Broken contracts")[2], flags=re.MULTILINE)[1:]
    return dict(zip(named[::2], named[1::2], strict=True))


@pytest.mark.parametrize("number", range(len(PLANTED)))
def test_a_planted_import_breaks_its_rule(reports: dict[str, str], number: int) -> None:
    layer, line, rule = PLANTED[number]
    module = f"attnviz.{layer.replace('/', '.')}.planted_{number}"
    assert any(name.startswith(rule) and module in report for name, report in reports.items()), (line, reports)


@pytest.mark.parametrize("told", [told for *_, told in CIRCLES])
def test_a_circle_is_found(reports: dict[str, str], told: str) -> None:
    (report,) = (report for name, report in reports.items() if name.startswith("No import circle"))
    assert re.search(told, report), report
