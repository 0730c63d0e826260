"""What the explorer without a server takes of a browser: python -m benchmarks.site

Chromium reads sentences with SmolLM2 in a folder that `attnviz site` wrote, and a hand moves the scale. Told are the
longest tasks of the page's main thread, by Chromium's trace, and the memory of the page's process, model included.
"""

import argparse
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.driving import move_scale, traced
from benchmarks.harness import chromium, machine, memory, table
from tests.browser.site_server import served

#: sentences, by how many tokens SmolLM2 reads of them
SENTENCES = {
    13: "The animal didn't cross the street because it was too tired.",
    70: "The cat sat on the mat and the dog ran to the door. " * 5,
    196: "The cat sat on the mat and the dog ran to the door. " * 14,
}
LINES = 500  #: milliseconds after which the faintest lines are drawn, too
STEPS = 60  #: of a hand that moves
SAID = "document.querySelector('.site-status [role=status]').textContent"


def tasks(page: Any, act: Callable[[], None]) -> list[float]:
    """Milliseconds of each task of the page's main thread while `act` runs, the longest first."""
    # processor time, where the trace has it: this thread shares its core with the model's
    mine = (event for event in traced(page, act) if event["name"] == "RunTask")
    return sorted((event.get("tdur", event.get("dur", 0)) / 1000 for event in mine), reverse=True)


def read(page: Any, tokens: int) -> None:
    """Have a sentence read; until it is drawn."""
    page.fill(".site-text", SENTENCES[tokens].strip())
    page.press(".site-text", "Enter")
    page.wait_for_function(f"() => {SAID}.startsWith('Tokens: {tokens}, read in')")
    page.wait_for_timeout(LINES)


def held(browser: Any) -> tuple[int, int]:
    """Bytes of the page's process, which holds the model: its own with a share of what it shares, and all that it maps.

    Of all renderers it is the one with the most memory.
    """
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    pids = (int(each["id"]) for each in found if each["type"] == "renderer")
    pid = max(pids, key=lambda each: memory(each, "VmRSS"))
    share = re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
    assert share is not None
    return 1024 * int(share[1]), memory(pid, "VmRSS")


def measured(address: str) -> list[dict[str, str]]:
    """A row for each sentence."""
    with chromium() as browser:
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.goto(address)
        page.wait_for_function(f"() => {SAID}.includes('read in')", timeout=120_000)
        sizes = {}
        for tokens in SENTENCES:  # before any trace, which takes memory itself
            read(page, tokens)
            sizes[tokens] = held(browser)
        return [row(page, tokens, *sizes[tokens]) for tokens in SENTENCES]


def row(page: Any, tokens: int, share: int, mapped: int) -> dict[str, str]:
    """What a sentence takes."""
    reading, moving = tasks(page, lambda: read(page, tokens)), tasks(page, lambda: move_scale(page, STEPS))
    return {
        "tokens": str(tokens),
        "longest task, reading": f"{reading[0]:.0f} ms",
        "longest task, a hand moves the scale": f"{moving[0]:.0f} ms",
        "its tasks, 95th percentile of those above 1 ms": f"{percentile(moving):.0f} ms",
        "memory": f"{share / 1e6:.0f} MB",
        "with all that is shared": f"{mapped / 1e6:.0f} MB",
    }


def percentile(tasks_of: list[float]) -> float:
    """The 95th percentile of the tasks that take a millisecond or more."""
    long = [each for each in tasks_of if each >= 1]
    return long[len(long) // 20] if long else 0.0


def main() -> None:
    """Write a site, unless one is served already, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", help="of a site that is served already")
    chosen = parser.parse_args()
    print(machine())
    if chosen.address:
        print(table(measured(chosen.address)))
        return
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as (address, _server):
        print(table(measured(address)))


if __name__ == "__main__":
    main()
