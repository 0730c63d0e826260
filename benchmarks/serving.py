"""The app's server and a browser, for as long as a measurement or a picture needs them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET, ROOT, Server


@contextmanager
def served(script: Path = ROOT / "app.py") -> Iterator[Server]:
    """A server for the app, or for another script, which ends with the block."""
    with tempfile.TemporaryDirectory() as folder, Server(script, Path(folder) / "log.txt") as server:
        yield server


@contextmanager
def chromium() -> Iterator[Any]:
    """A fresh browser, so that one page's leftovers do not slow down the next."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET) as browser:
        yield browser
