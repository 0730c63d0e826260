"""The core imports nothing but torch and the standard library."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "attnviz" / "core"


#: what the core takes of the package below it: sentences with values, and limits
BELOW = {"attnviz.base.message", "attnviz.base.reliance"}


def imported(source: str) -> set[str]:
    """Top-level packages that a module imports anywhere in its source; of ours `attnviz.core`, and modules of base."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    below = {name: "attnviz.core" for name in names if name.startswith("attnviz.core")}
    below |= {name: name for name in names if name.startswith("attnviz.base.")}
    return {below.get(name) or name.split(".")[0] or name for name in names}


def strangers(source: str) -> set[str]:
    return imported(source) - sys.stdlib_module_names - {"torch", "attnviz.core", *BELOW}


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda path: path.name)
def test_a_core_file_imports_torch_and_the_standard_library_only(path: Path) -> None:
    assert strangers(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    "line",
    [
        "import numpy as np",
        "def f():\n    from transformers import x",
        "import attnviz.base.words",
        "from .. import words",
    ],
)
def test_a_forbidden_import_is_noticed_wherever_it_stands(line: str) -> None:
    assert strangers(line)


def test_importing_the_whole_core_loads_no_other_layer() -> None:
    modules = ", ".join(f"attnviz.core.{path.stem}" for path in CORE.glob("*.py") if path.stem != "__init__")
    others = "'streamlit', 'plotly', 'transformers', 'pandas', 'attnviz.base.words', 'attnviz.models'"
    program = f"import sys, {modules}; print([m for m in ({others}) if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=CORE.parents[1]
    )
    assert answer.stdout.strip() == "[]"
