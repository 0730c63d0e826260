"""A real Chromium among the visitors: seconds until a page and an answer are painted on its screen."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.load.habits import CLASS_SENTENCES, EXPLORE
from tests.browser.conftest import CHROMIUM, QUIET

STAYS = 4  # sentences that it types before it comes anew, with an empty cache
THINKS = 5.0  # seconds between two of them
#: milliseconds at which a head was painted last, 0 before the first: each mark takes the place of the one before
PAINTED = "(performance.getEntriesByName('attnviz-head-painted').at(-1)?.startTime ?? 0)"
LONGEST = 60_000  # milliseconds for an answer; then it counts as an error


@dataclass
class RealBrowser:
    """One that comes, types the class's sentences and comes anew, in a thread of its own, until it is told to end."""

    url: str
    seed: int = 0
    opens: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    _end: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let it end what it does."""
        self._end.set()
        if self._thread is not None:
            self._thread.join(2 * LONGEST / 1000)

    def _live(self) -> None:
        chance = random.Random(self.seed)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
            while not self._end.is_set():
                context = chromium.new_context(bypass_csp=True, viewport={"width": 1280, "height": 720})
                try:
                    self._visit(context.new_page(), chance)
                except Exception as failed:  # of many kinds; the run goes on and says it
                    self.errors.append(f"a real browser: {type(failed).__name__}: {failed}"[:200])
                finally:
                    context.close()
            chromium.close()

    def _visit(self, page: Any, chance: random.Random) -> None:
        page.set_default_timeout(LONGEST)
        start = time.perf_counter()
        page.goto(f"{self.url}/{EXPLORE}")
        page.wait_for_function(PAINTED)
        self.opens.append(time.perf_counter() - start)
        for _ in range(STAYS):
            if self._end.wait(THINKS):
                return
            box = page.locator(".st-key-text textarea")
            text = chance.choice([each for each in CLASS_SENTENCES if each != box.input_value()])
            before = page.evaluate(PAINTED)
            start = time.perf_counter()
            box.fill(text)
            box.blur()
            page.wait_for_function(f"{PAINTED} > {before}")
            self.answers.append(time.perf_counter() - start)
