"""A browser test that fails is looked at once more, alone; what fails again has failed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.second_look import FEW, look


@pytest.fixture
def tests_in(tmp_path):
    """Write a file of tests, look at it, and tell the exit status and how often pytest ran."""

    def looked_at(source: str, *options: str) -> tuple[int, list[list[str]]]:
        (tmp_path / "test_some.py").write_text(source)
        runs: list[list[str]] = []

        def run(arguments: list[str]) -> int:
            runs.append(arguments)
            command = [sys.executable, "-m", "pytest", "-q", "-c", "none.ini", "--rootdir", ".", *arguments]
            alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # to import every plugin takes longer
            run = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, timeout=120, check=False)
            return run.returncode

        (tmp_path / "none.ini").write_text("[pytest]\n")
        return look(["test_some.py", *options], Path(tmp_path, "cache"), run), runs

    return looked_at


def test_what_fails_beside_others_and_passes_alone_is_named_and_forgiven(tests_in, capsys):
    source = """
from pathlib import Path
seen = Path("seen")
def test_late():
    first = not seen.exists()
    seen.touch()
    assert not first
def test_other(): pass
"""
    status, runs = tests_in(source)
    assert status == 0
    assert runs[1][0] == "test_some.py::test_late"
    assert "test_other" not in str(runs[1])
    assert "UNSTEADY" in capsys.readouterr().out
    status, runs = tests_in("def test_a(): assert False\ndef test_b(): pass\n")
    assert (status, len(runs)) == (1, 2), "what fails twice has failed"
    assert "UNSTEADY" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_test_of_a_group_is_found_again(tests_in):
    grouped = "import pytest\n@pytest.mark.xdist_group('some')\ndef test_a(): assert False\n"
    status, runs = tests_in(grouped, "-p", "xdist.plugin", "-n", "1", "--dist", "loadgroup")
    assert status == 1
    assert runs[1][0] == "test_some.py::test_a"


@pytest.mark.slow
def test_a_group_stays_in_one_process(tests_in, tmp_path):
    """Or each of its servers would be started once more: pytest and pytest-xdist must understand each other."""
    source = """
import os, pytest
@pytest.mark.xdist_group("some")
@pytest.mark.parametrize("number", range(8))
def test_a(number):
    with open("processes", "a") as file:
        print(os.environ["PYTEST_XDIST_WORKER"], file=file)
"""
    status, _ = tests_in(source, "-p", "xdist.plugin", "-n", "2", "--dist", "loadgroup")
    assert status == 0
    processes = (tmp_path / "processes").read_text("utf-8").split()
    assert len(processes) == 8
    assert len(set(processes)) == 1


def test_many_failures_are_no_accident(tests_in):
    source = "\n".join(f"def test_{n}(): assert False" for n in range(FEW + 1))
    status, runs = tests_in(source)
    assert status == 1
    assert len(runs) == 1
