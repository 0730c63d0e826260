"""`import attnviz as av`: what it gives, and what it does not load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import attnviz as av

ROOT = Path(__file__).parents[1]


def loaded_after(code: str, packages: tuple[str, ...]) -> set[str]:
    """Which of the packages a fresh Python has imported after running `code`."""
    ask = f"{code}\nimport sys\nprint(*(set({packages!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_it_loads_nothing() -> None:
    assert loaded_after("import attnviz", ("torch", "numpy", "transformers", "plotly", "streamlit")) == set()


def test_every_name_is_there_and_none_of_them_needs_streamlit() -> None:
    code = "import attnviz as av\nfor name in av.__all__:\n    assert getattr(av, name) is not None, name"
    assert loaded_after(code, ("torch", "streamlit")) == {"torch"}


def test_a_name_that_it_does_not_have_is_answered_with_those_that_it_has() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'captures'; it has .*capture"):
        _ = av.captures  # type: ignore[attr-defined]
