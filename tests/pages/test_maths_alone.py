"""Each page's maths, and all names of the notebook's face, are imported where neither Streamlit nor Plotly can be."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import pkgutil, sys
from importlib import import_module

sys.modules["streamlit"] = sys.modules["plotly"] = None  # any import of them raises
import attnviz, attnviz.notebook, attnviz.pages, attnviz.runs

assert all(getattr(attnviz, name) is not None for name in attnviz.__all__)
found = ["attnviz.notebook"]
for package in (attnviz.pages, attnviz.runs):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".", onerror=lambda name: None):
        parts = module.name.split(".")
        if "maths" in parts or parts[1] == "runs":
            if not module.name.endswith("__main__"):
                import_module(module.name)
                found.append(module.name)
print(len(found))
"""


@pytest.mark.slow  # the contracts of imports say it of the sources at every commit
def test_maths_need_neither_streamlit_nor_plotly() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    walked = [*(ROOT / "attnviz/pages").glob("*/maths.py"), *(ROOT / "attnviz/pages").glob("*/maths/**/*.py")]
    walked += (ROOT / "attnviz/runs").rglob("*.py")
    not_imported = {"__main__.py"}
    assert int(ran.stdout) == len([file for file in walked if file.name not in not_imported])
