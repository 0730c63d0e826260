"""One wheel, and an environment for each extra, for all tests of a run."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import browser
from tests.wheel import environments

__all__ = ["browser"]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environments.build(tmp_path_factory.mktemp("wheel"))


#: Runs command lines in one process, which imports torch and the app once; prints how each ended and what it said.
ONE_BY_ONE = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from attnviz.command import main
told = []
for line in json.loads(sys.argv[1]):
    sys.argv = ["attnviz", *line]
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            status = main()
        except SystemExit as end:
            status = end.code
    told.append([line, status or 0, out.getvalue(), err.getvalue()])
print(json.dumps(told))
"""


class Installed:
    """An environment, and a folder of its own to run things in, away from the clone."""

    def __init__(self, python: Path, away: Path) -> None:
        self.python, self.away = python, away
        self.attnviz = python.with_name("attnviz")

    def run(self, *command: Any, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment; the answer is not checked."""
        clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        given = clean | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"} | env
        told = [str(each) for each in command]
        return subprocess.run(told, cwd=self.away, env=given, capture_output=True, text=True, check=False)

    def commands(self, *lines: list[str]) -> list[subprocess.CompletedProcess[str]]:
        """What each of several `attnviz` command lines answers, run one after the other in one process."""
        done = self.run(self.python, "-c", ONE_BY_ONE, json.dumps(lines))
        assert done.returncode == 0, done.stderr
        return [subprocess.CompletedProcess(*told) for told in json.loads(done.stdout.splitlines()[-1])]


def _installed(wheel: Path, folder: Path, extra: str) -> Installed:
    away = folder / "a way é"  # a path with a space and a letter that is not ASCII
    away.mkdir()
    return Installed(environments.environment(folder / "venv", wheel, extra), away)


@pytest.fixture(scope="session")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """`pip install attnviz`: torch and NumPy."""
    return _installed(wheel, tmp_path_factory.mktemp("core"), "")


@pytest.fixture(scope="session")
def app(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """`pip install attnviz[app]`."""
    return _installed(wheel, tmp_path_factory.mktemp("app"), "app")
