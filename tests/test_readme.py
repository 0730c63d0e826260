"""The README is true: its example runs, and its commands and pictures exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from attnviz.base import words
from attnviz.serve.page_table import PAGES
from tests.models.conftest import smollm2

__all__ = ["smollm2"]

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CHINESE = (ROOT / "README.zh.md").read_text("utf-8")


@pytest.mark.slow
def test_the_notebook_example_runs_and_finds_the_animal(smollm2):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    assert len(code.strip().splitlines()) <= 10
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    found = eval(done.stdout)
    assert max(found, key=found.get) == "animal"


def test_every_file_that_the_architecture_names_exists():
    """Capitals stand for a name to be chosen, as in pages/NAME.py."""
    quoted = re.findall(r"`([\w./*-]+)`", (ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    paths = [
        name for name in quoted if re.search(r"\w/\w|\.(py|js|md|toml|txt)$", name) and not re.search("[A-Z]{4}", name)
    ]
    assert len(paths) > 60
    around = (ROOT, ROOT / "attnviz", ROOT / "attnviz/app", ROOT / "attnviz/models", ROOT / "attnviz/canvas")
    missing = [
        name
        for name in paths
        if not any(list(folder.glob(name)) for folder in around)
        and not any(list((ROOT / part).rglob(name)) for part in ("attnviz", "tests"))
    ]
    assert not missing


def test_a_check_begins_with_the_models_so_that_a_cache_that_cannot_be_written_is_told_first():
    told = subprocess.run(["make", "-n", "ready"], cwd=ROOT, capture_output=True, encoding="utf-8").stdout
    assert told.index("attnviz models prepare") < told.index("scripts/debian_tools.sh")


@pytest.mark.parametrize("rule", ["run", "dev"])
def test_a_port_is_asked_for_only_where_one_is_named_so_that_a_taken_one_is_passed_over(rule):
    def recipe(*more: str) -> str:
        return subprocess.run(["make", "-n", *more, rule], cwd=ROOT, capture_output=True, encoding="utf-8").stdout

    assert "streamlit run app.py" in recipe()
    assert "--server.port" not in recipe("PORT=")
    assert "--server.port 8600" in recipe("PORT=8600")


def test_the_readme_points_to_files_and_commands_that_are_there_and_describes_every_page():
    assert [name for name in re.findall(r"\]\(([^)#:]+)\)", README) if not (ROOT / name).exists()] == []
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"^make ([a-z-]+)", README, re.M)) <= rules
    assert [row.title for row in PAGES if f"**{row.title}**" not in README] == []


def test_the_chinese_readme_describes_every_page_by_its_name_in_the_app():
    with words.speaking("zh"):
        pages = [f"**{words._(row.title)}**" for row in PAGES]
    assert [name for name in pages if name not in CHINESE] == []


def test_the_chinese_readme_has_the_commands_and_files_of_the_english_one():
    """Its comments are Chinese; what one types, and what is pointed to, is the same."""

    def typed(text: str) -> list[str]:
        blocks = [held for kind, held in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M) if not kind]
        return [line.split("#")[0].replace("&lang=zh", "").strip() for block in blocks for line in block.splitlines()]

    assert sorted(typed(CHINESE)) == sorted(typed(README))
    missing = [name for name in re.findall(r"\]\(([^)#:]+)\)", CHINESE) if not (ROOT / name).exists()]
    assert not missing
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    chinese = re.search(r"```python\n(.*?)```", CHINESE, re.S)[1]
    assert [line.split("#")[0] for line in chinese.splitlines()] == [line.split("#")[0] for line in code.splitlines()]
