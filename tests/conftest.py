"""What holds for every test: one thread for arithmetic, and no test file that is never run."""

import gc
import os
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

# Read when torch and numpy are first loaded, so it stands before any other import of ours. Test processes that run
# beside each other, each with a thread per core, spend most of their time waiting for one another. pytest-xdist's
# workers and every process that a test starts inherit it.
for _library in ("OMP", "MKL", "OPENBLAS"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"


def pytest_collection_finish() -> None:
    """Look through the installed packages once for Streamlit's components, not once for each run of a page.

    A real server does it once, when it starts. In AppTest it takes longer than most pages do. And whatever was imported
    by now stays: the garbage collector need not walk through it again and again, which takes a twelfth of all tests.
    """
    gc.freeze()
    if "streamlit" in sys.modules:
        from streamlit.components.v2 import manifest_scanner

        vars(manifest_scanner)["scan_component_manifests"] = cache(manifest_scanner.scan_component_manifests)


class LostFile(pytest.Item):
    """A test that fails, in place of those that a collected file should have had."""

    def runtest(self) -> None:
        pytest.fail(f"no test was collected from {self.path}: its folder was passed over, or it holds none", False)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Add a failing test for each file below the folders asked for that has none, before -k and -m deselect any."""
    met = {item.path for item in items}
    yield
    if not session.testsfailed and not config.getoption("lf", False):
        lost = [file for file in _asked_for(config) if file not in met]
        items.extend(LostFile.from_parent(session, name=f"lost {file.name}", path=file) for file in lost)


def _asked_for(config: pytest.Config) -> list[Path]:
    """Test files below the folders on the command line, or below `testpaths`."""
    left_out = [Path(path).resolve() for path in config.getoption("ignore", None) or []]
    folders = [Path(argument).resolve() for argument in config.args if Path(argument).is_dir()]
    files = {file for folder in folders for file in folder.rglob("test_*.py")}
    return sorted(file for file in files if not any(file.is_relative_to(path) for path in left_out))
