"""The app opens on the newest Streamlit that can be had, and logs what that version has taken away."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.browser.conftest import ROOT, Server, answered, until

#: prints a line for each private thing of Streamlit that the app leans on and that this version does not have
SAY_WHAT_IS_GONE = """
from attnviz.app.workarounds.compatibility_checks import DEPENDENCIES
from attnviz.base.undocumented_dependency import missing_dependencies
print(*missing_dependencies(DEPENDENCIES), sep="\\n")
"""


def installed_over(folder: Path, wanted: str) -> dict[str, str]:
    """Put `wanted` into `folder`, with what it needs and this environment has not; the versions that lie there.

    Nothing of this environment is touched. Raises CalledProcessError where nothing can be downloaded.
    """
    needed = {wanted}
    while needed:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder)]
        subprocess.run([*command, *sorted(needed)], check=True, capture_output=True, text=True, timeout=600)
        there = {canonicalize_name(each.name): each for each in distributions(path=[str(folder)])}
        requirements = [Requirement(text) for each in there.values() for text in each.requires or ()]
        needed = {
            f"{each.name}{each.specifier}"
            for each in requirements
            if each.marker is None or each.marker.evaluate({"extra": ""})
            if not each.specifier.contains(_version(each.name, there), prereleases=True)
        }
    return {name: each.version for name, each in there.items()}


def _version(name: str, there: dict[Any, Any]) -> str:
    """The version of a package in the folder or else here; one that nobody asks for where it is in neither."""
    held = there.get(canonicalize_name(name))
    try:
        return str(version(name) if held is None else held.version)
    except PackageNotFoundError:
        return "0.dev0"


def skip_loudly(reason: str) -> None:
    warnings.warn(f"THE NEWEST STREAMLIT IS NOT TRIED: {reason}", stacklevel=1)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Streamlit that is newer than the one that is installed."""
    folder = tmp_path_factory.mktemp("newest") / "site-packages"  # elsewhere it takes itself for being developed
    try:
        held = installed_over(folder, "streamlit")
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
        skip_loudly(f"nothing could be downloaded: {str(problem.stderr)[-300:]}")
    if held["streamlit"] == version("streamlit"):
        skip_loudly(f"{held['streamlit']} is the newest, and every other test runs on it")
    return folder


@pytest.fixture(scope="module")
def server(newer: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(ROOT / "app.py", tmp_path_factory.mktemp("served") / "log.txt", packages=newer)
    yield running
    running.stop()


@pytest.mark.timeout(900)
def test_home_and_explore_open_on_the_newest_streamlit_and_the_log_says_what_it_lacks(
    newer: Path, server: Server, new_page: Callable[..., Any]
) -> None:
    for address, picture in (("", "heatmap"), ("/explore", "overview")):
        page = new_page(stranger=True)
        page.goto(server.url + address)
        page.locator("[data-testid=stMain] h1").first.wait_for()
        answered(page)
        page.get_by_test_id(picture).first.wait_for()
        assert page.locator("[data-testid=stException]").count() == 0
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(newer), str(ROOT))), "HF_HUB_OFFLINE": "1"}
    asked = subprocess.run([sys.executable, "-c", SAY_WHAT_IS_GONE], cwd=ROOT, env=env, capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr
    lacking = [line for line in asked.stdout.splitlines() if line]
    until(lambda: all(line in server.log.read_text("utf-8") for line in lacking))  # each is logged
    log = server.log.read_text("utf-8")
    assert log.count(" no longer has ") == len(lacking), "and nothing else is"
    assert "Traceback" not in log, log
