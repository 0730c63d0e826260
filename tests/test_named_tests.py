"""SECURITY.md and the faults of docs/hosting/faults.md name tests that hold them, and these are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = {
    each
    for page in ("SECURITY.md", "docs/hosting/faults.md")
    for each in re.findall(r"`(tests/[\w/.]+)::(\w+)`", (ROOT / page).read_text("utf-8"))
}


@pytest.mark.parametrize("path, name", sorted(NAMED))
def test_a_test_that_is_named_is_there(path: str, name: str) -> None:
    assert f"def {name}(" in (ROOT / path).read_text("utf-8")
