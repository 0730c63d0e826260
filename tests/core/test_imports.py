"""The core needs no other layer and none of their libraries; import-linter forbids each of them by name."""

import subprocess
import sys
from pathlib import Path

CORE = Path(__file__).parents[2] / "attnviz" / "core"


def test_importing_the_whole_core_loads_no_other_layer() -> None:
    modules = ", ".join(f"attnviz.core.{path.stem}" for path in CORE.glob("*.py") if path.stem != "__init__")
    others = "'streamlit', 'plotly', 'transformers', 'pandas', 'attnviz.base.words', 'attnviz.models'"
    program = f"import sys, {modules}; print([m for m in ({others}) if m in sys.modules])"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=CORE.parents[1]
    )
    assert answer.stdout.strip() == "[]"
