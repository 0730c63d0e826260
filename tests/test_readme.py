"""The README is true: its example runs, and its commands and pictures exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from attnviz.serve.page_table import PAGES
from tests.models.conftest import smollm2

__all__ = ["smollm2"]

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CHINESE = (ROOT / "README.zh.md").read_text("utf-8")


@pytest.mark.slow
def test_the_notebook_example_runs_and_finds_the_animal(smollm2):
    code = re.findall(r"```python\n(.*?)```", README, re.S)[1]
    assert len(code.strip().splitlines()) <= 10
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    found = eval(done.stdout)
    assert max(found, key=lambda pair: pair[1])[0] == "animal"


@pytest.mark.parametrize("text", [README, CHINESE], ids=["English", "Chinese"])
def test_the_readme_points_to_files_and_commands_that_are_there_and_describes_every_page(text):
    assert [name for name in re.findall(r"\]\(([^)#:]+)\)", text) if not (ROOT / name).exists()] == []
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"^make ([a-z-]+)", text, re.M)) <= rules
    assert [row.title for row in PAGES if f"**{row.title}**" not in README] == []
    code, other = ("".join(re.findall(r"```python\n(.*?)```", each, re.S)) for each in (README, text))
    assert [line.split("#")[0] for line in other.splitlines()] == [line.split("#")[0] for line in code.splitlines()]


def test_the_example_without_a_model_runs(capsys):
    exec(re.search(r"```python\n(.*?)```", README, re.S)[1], {})
    printed = capsys.readouterr().out
    assert "d_k 256: largest weight 0.9" in printed
    assert "KV cache: ideal 1 GiB" in printed
    assert "KV cache: ideal 128 MiB" in printed, "MQA keeps one of eight heads"
