"""Each line of SECURITY.md names the tests that hold it, and they are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
LINES = [" ".join(line.split()) for line in re.findall(r"^- (.+?)(?=^- |^$|\Z)", PAGE, re.M | re.S)]
NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+)`", PAGE)))


def test_the_page_has_lines():
    assert len(LINES) >= 8
    assert len(NAMED) >= 15


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:40])
def test_a_line_names_its_test(line):
    assert re.search(r"`tests/[\w/.]+`", line), line


def test_each_fault_names_a_test_that_is_there():
    rows = [row for row in (ROOT / "docs/faults.md").read_text("utf-8").splitlines() if row.startswith("| ")][1:]
    assert len(rows) >= 12
    for row in rows:
        path, name = re.search(r"`(tests/[\w/.]+)::(\w+)`", row).groups()
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), row


@pytest.mark.parametrize("path", NAMED)
def test_a_test_that_is_named_is_there(path):
    there = ROOT / path
    found = there.rglob("*.py") if there.is_dir() else [there]
    assert any("def test_" in file.read_text("utf-8") or file.name == "conftest.py" for file in found if file.exists())
