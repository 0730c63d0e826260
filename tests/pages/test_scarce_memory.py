"""A machine without memory for a model or for a pass, each in a process of its own.

In a process that has run other tests, what these leave behind goes away meanwhile, and its place would do for both.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="no other system bounds a process's address space"),
]


@pytest.mark.parametrize("name", ["test_no_memory_for_a_model", "test_no_memory_for_a_pass"])
def test_without_memory_a_visitor_reads_so(name: str) -> None:
    test = f"{Path(__file__).with_name('scarce_memory.py')}::{name}"
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-q", test]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert ran.returncode == 0, ran.stdout
