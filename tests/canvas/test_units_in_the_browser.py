"""The browser writes bytes, FLOPs and seconds as Python does."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from attnviz.base import units

SOURCE = Path(__file__).parents[2] / "attnviz/canvas/shared/numbers.js"
NODE = shutil.which("node")
CASES = [0, 1, 999, 1000, 1023, 1024, 1536, 12345, 999_999, 1_000_000, 1_107_296_256, 4 << 30, 128 << 20, 67.6e9, 3e15]
SECONDS = [12.3, 1.0, 0.999, 0.0123, 4.56e-5, 3.2e-8, 132e-6]


@pytest.mark.skipif(NODE is None, reason="no Node on this machine; tests/js checks the same functions by themselves")
def test_both_write_the_same():
    calls = [(CASES, "formatBytes"), (CASES, "formatFlop"), (SECONDS, "formatDuration")]
    written = ", ".join(f"{json.dumps(numbers)}.map(js.{name})" for numbers, name in calls)
    code = f"import('{SOURCE.as_uri()}').then((js) => console.log(JSON.stringify([{written}])))"
    told = json.loads(subprocess.run([NODE, "-e", code], capture_output=True, encoding="utf-8", check=True).stdout)
    assert told == [
        [units.binary(each) for each in CASES],
        [units.flop(each) for each in CASES],
        [units.duration(each) for each in SECONDS],
    ]
