"""The command line and the notebook's picture speak the language that they are asked to."""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import attnviz as av
from attnviz.base import words
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.command import command_line

ROOT = Path(__file__).parents[1]
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """What a command line sets for its process is set back."""
    usual, said = words._default_language, vars(argparse)["_"]
    yield
    words.set_default_language(usual)
    vars(argparse)["_"] = said


@pytest.mark.parametrize(
    "environment, language",
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, None),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_GB.UTF-8"}, None),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_CN:en"}, "zh"),
        ({}, None),
    ],
)
def test_the_environment_is_read_as_other_programs_read_it(environment: dict[str, str], language: str | None):
    assert command_line.environment_language(environment) == language


@pytest.mark.parametrize("given", [["--lang", "zh", "figure", "-h"], ["figure", "--lang=zh", "-h"]])
def test_the_option_counts_wherever_it_stands_and_is_taken_out(given: list[str]):
    assert command_line.parse_language(given) == ["figure", "-h"]
    assert words.current_language() == "zh"


def test_a_language_that_is_not_here_is_refused_with_those_that_are():
    with pytest.raises(Problem, match="There is no language tlh; there are: en, zh"):
        command_line.parse_language(["--lang", "tlh"])


def said(*arguments: str, **environment: str) -> str:
    """What `attnviz` prints in a process of its own."""
    env = {name: held for name, held in os.environ.items() if name not in command_line.VARIABLES}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"} | environment
    done = subprocess.run(
        [sys.executable, "-m", "attnviz", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("command", [(), ("figure",)], ids=str)
def test_the_help_is_chinese_where_the_environment_is(command: tuple[str, ...]):
    """No line of the help has more than three English words in a row, but names, options and examples."""
    told = said(*command, "--help", LANG="zh_CN.UTF-8")
    assert told.startswith("用法： attnviz")
    assert "options:" not in told
    prose = [line for line in told.splitlines() if "attnviz" not in line]
    left = [line for line in prose if re.search(r"(?:\b[a-z]{2,}\b[ ,.]+){3}", line)]
    assert left == []


def test_a_notebooks_picture_speaks_the_language_it_is_asked_for():
    weights = [[[[1.0, 0.0], [0.5, 0.5]]]]
    english, chinese = av.show(weights, ["a", "b"]), av.show(weights, ["a", "b"], language="zh")
    with words.use_language("zh"):
        title = _("Layer {layer}, head {head}").format(layer=0, head=0)
    assert title in chinese.svg
    assert '<html lang="zh"' in chinese.html
    assert '<html lang="en"' in english.html
    assert CHINESE.search(chinese.html.split('id="attnviz-view"')[1].split("</script>")[0])
    assert not CHINESE.search(english.html.split('id="attnviz-view"')[1].split("</script>")[0])
