"""The test run itself: no file is left out, and arithmetic has one thread wherever tests run."""

import shutil
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[1]
PASSES_OVER_BUILD = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'  # pytest's own norecursedirs
TEST = "def test_it(): pass\n"


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A small folder of tests that runs under this suite's conftest and settings."""
    pytester.makepyprojecttoml((ROOT / "pyproject.toml").read_text("utf-8"))
    (pytester.path / "tests" / "build").mkdir(parents=True)
    shutil.copy(ROOT / "tests/conftest.py", pytester.path / "tests")
    (pytester.path / "tests" / "test_near.py").write_text(TEST)
    (pytester.path / "tests" / "build" / "test_far.py").write_text(TEST)
    return pytester


@pytest.mark.slow
@pytest.mark.parametrize("options, tests", [((), 2), (("--ignore=tests/build",), 1), (("-k", "far"), 1)])
def test_every_file_that_is_asked_for_is_collected(suite: pytest.Pytester, options: tuple[str, ...], tests: int):
    suite.runpytest_inprocess(*options).assert_outcomes(passed=tests, deselected=int("-k" in options))


@pytest.mark.parametrize("options", [("-k", "near"), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_a_folder_that_pytest_passes_over_fails(suite: pytest.Pytester, options: tuple[str, ...]):
    suite.makepyprojecttoml(PASSES_OVER_BUILD)
    run = suite.runpytest_inprocess(*options)
    run.assert_outcomes(passed=1, failed=1)
    run.stdout.fnmatch_lines("no test was collected from */tests/build/test_far.py*")


@pytest.mark.slow
def test_a_test_file_without_tests_fails(suite: pytest.Pytester):
    (suite.path / "tests" / "test_misspelt.py").write_text(TEST.replace("test", "tset"))
    run = suite.runpytest_inprocess()
    run.assert_outcomes(passed=2, failed=1)
    run.stdout.fnmatch_lines("no test was collected from */tests/test_misspelt.py*")


@pytest.mark.slow
def test_an_import_that_fails_is_named_and_not_hidden(suite: pytest.Pytester):
    (suite.path / "tests" / "test_near.py").write_text("import nothing_of_that_name\n")
    suite.runpytest_inprocess().stdout.fnmatch_lines("*No module named 'nothing_of_that_name'*")


def test_arithmetic_has_one_thread():
    assert torch.get_num_threads() == 1


@pytest.mark.slow
def test_so_it_has_in_workers_and_in_processes_that_tests_start(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    """Even when the environment asks for another number of threads."""
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    (suite.path / "tests" / "test_near.py").write_text(
        "import subprocess, sys\n"
        "def test_it():\n"
        "    program = 'import torch; print(torch.get_num_threads())'\n"
        "    assert subprocess.check_output([sys.executable, '-c', program], text=True) == '1\\n'\n"
    )
    suite.runpytest_subprocess("-n", "1", "tests/test_near.py").assert_outcomes(passed=1)


def test_no_browser_test_waits_for_a_time_instead_of_a_condition():
    waits = "wait_for_" + "timeout("
    assert [file for file in ROOT.glob("tests/**/*.py") if waits in file.read_text("utf-8")] == []
