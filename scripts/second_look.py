"""Run tests that need several processes; the few that fail beside others run once more, alone, and are named loudly.

python -m scripts.second_look [ARGUMENTS OF PYTEST]

Two browsers and two servers on two cores are sometimes late for each other. Whatever fails alone as well has failed; so
has a run in which more than FEW tests fail, or one that is cut short. What passes alone is unsteady: it is listed at
the end, to be mended.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

FEW = 5  #: more failures than these are no accident
FAILED = 1  #: pytest's exit status where tests ran to the end and some failed

Run = Callable[[list[str]], int]


def pytest(arguments: list[str]) -> int:
    return subprocess.call([sys.executable, "-m", "pytest", *arguments])


def last_failed(cache: Path) -> list[str]:
    """The tests that failed in the run which kept its cache here."""
    found = cache / "v" / "cache" / "lastfailed"
    named = json.loads(found.read_text("utf-8")) if found.exists() else []
    return sorted(re.sub(r"@[\w-]+$", "", name) for name in named)  # without the group that pytest-xdist adds


def look(arguments: list[str], cache: Path, run: Run = pytest) -> int:
    """pytest's exit status, after a second look at the few tests that failed."""
    kept = ["-o", f"cache_dir={cache}"]
    status = run([*arguments, *kept])
    failed = last_failed(cache)
    if status != FAILED or not 0 < len(failed) <= FEW:
        return status
    print("\nOnce more, alone:", *failed, sep="\n  ", flush=True)
    again = run([*failed, *kept])
    if again == 0:
        print("\nUNSTEADY: failed beside other tests, passed alone. Find the race:", *failed, sep="\n  ", flush=True)
    return again


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(look(sys.argv[1:], Path(folder)))
