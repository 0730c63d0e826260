"""Each promise of SECURITY.md names the tests that hold it, and they are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
TEST = r"`(tests/[\w/.]+)::(\w+)`"
PROMISED = PAGE.partition("\n## ")[2].partition("## What is not promised")[0]


def promises(text: str) -> list[str]:
    """Every clause that ends in a full stop or a semicolon; what stands behind a colon belongs to what is before it."""
    parts = re.split(r"^#.*$|^- |\n\n", text.partition("\n")[2], flags=re.M)
    return [clause for part in parts for clause in re.split(r"[;.](?=\s|$)", " ".join(part.split())) if clause.strip()]


CLAUSES = promises(PROMISED)
NAMED = sorted(set(re.findall(TEST, PAGE)))


def test_the_page_has_promises():
    assert len(CLAUSES) >= 45
    assert len(NAMED) >= 45
    assert "`tests/" not in re.sub(TEST, "", PAGE).replace("`tests/test_security_page.py`", ""), "a file is not a test"


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause[:50])
def test_a_promise_names_its_test(clause):
    assert re.search(TEST, clause), clause


def test_a_promise_without_a_test_is_found():
    kept = "A (`tests/a.py::test_a`); b (`tests/a.py::test_b`). C (`tests/a.py::test_c`)."
    assert all(re.search(TEST, clause) for clause in promises(f"What\n- {kept}"))
    for bare in ("It is safe.", "it is safe; "):
        assert not all(re.search(TEST, clause) for clause in promises(f"What\n- {bare} {kept}"))


def is_there(path: str, name: str) -> bool:
    return (ROOT / path).is_file() and f"def {name}(" in (ROOT / path).read_text("utf-8")


def test_each_fault_names_a_test_that_is_there():
    rows = [row for row in (ROOT / "docs/hosting/faults.md").read_text("utf-8").splitlines() if row.startswith("| ")][
        1:
    ]
    assert len(rows) >= 12
    for row in rows:
        found = re.search(TEST, row)
        assert found, row
        assert is_there(*found.groups()), row


@pytest.mark.parametrize("path, name", NAMED)
def test_a_test_that_is_named_is_there(path, name):
    assert is_there(path, name)
    assert name.startswith("test_") or path.endswith("conftest.py")
