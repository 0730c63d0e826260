"""transformers takes seconds to import: a command that runs no model does not wait for it."""

import subprocess
import sys

import pytest

FIGURE = """
import sys
from attnviz.command.command_line import main
assert main(["figure", sys.argv[1], "-o", sys.argv[2]]) == 0
"""
LOADED = "\nprint('transformers.modeling_utils' in sys.modules)"


@pytest.mark.parametrize("link", ["fast", "explore?at=13.8"])
def test_a_figure_that_runs_no_model_does_not_import_transformers(link: str, tmp_path):
    assert _loaded(FIGURE + LOADED, link, str(tmp_path / "figure.svg")) == "False"
    assert (tmp_path / "figure.svg").read_text("utf-8").startswith("<svg")


def _loaded(program: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
