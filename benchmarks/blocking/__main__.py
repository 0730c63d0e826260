"""How long each long computation of Decoding, Positions and Compare holds up everybody else.

python -m benchmarks.blocking                 all of them, in some minutes
python -m benchmarks.blocking --only policies those whose address or name holds a word

One visitor starts a computation, with inputs that nothing was prepared for. Meanwhile the server's process listens to
its own heart (benchmarks/blocking/heartbeats.py): the event loop and a thread beat every 5 ms, and what counts is the
longest time that a beat came too late. Another visitor asks for the server's health without pause. A machine that does
other work delays beats too: the same beats with nobody there stand in the first row.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from benchmarks.blocking.long_work import LONGEST, LongWork
from benchmarks.load.fetching import fetch_all
from benchmarks.load.visitor import Visitor
from benchmarks.measuring import machine
from benchmarks.tables import ms, table
from tests.browser.conftest import ROOT, Server

MOST = 0.2  # seconds that nobody may be held up for
ASKED_EVERY = 0.01
PATIENCE = 600.0
NOBODY = LongWork("glossary", "nobody computes", {})


@dataclass(frozen=True)
class HeldUp:
    """The longest of each kind while one computation ran, in seconds."""

    work: LongWork
    took: float
    loop: float
    thread: float
    turn: float
    asked: float

    @property
    def holds(self) -> bool:
        return max(self.loop, self.thread, self.asked) <= MOST


def heard(url: str) -> dict[str, float]:
    """The longest of each kind since the last call."""
    with urllib.request.urlopen(f"{url}/late", timeout=60) as answer:
        return {name: max(late, default=0.0) for name, late in json.load(answer).items()}


async def measured(url: str, work: LongWork) -> HeldUp:
    """Let one visitor start the work and another one ask until it has ended."""
    one = Visitor(url, patience=PATIENCE)
    if work.button:  # what the button starts counts, and the page's opening is another row's
        await one.enter(work.page, work.query)
        await one.rest()
    await asyncio.to_thread(heard, url)
    ended = asyncio.Event()
    asking = asyncio.create_task(longest_answer(url, ended))
    begun = time.perf_counter()
    if work.button:
        button = one.find(work.button)
        if button is None:
            raise LookupError(f"{work.page} has no {work.button!r}: {sorted(one.controls)}")
        await one.use(button, trigger_value=True)
    elif work is NOBODY:
        await asyncio.sleep(5)
    else:
        await one.enter(work.page, work.query)
    took = time.perf_counter() - begun
    ended.set()
    asked = await asking
    late = await asyncio.to_thread(heard, url)
    await one.leave()
    return HeldUp(work, took, late["loop"], late["thread"], late["turn"], asked)


async def longest_answer(url: str, ended: asyncio.Event) -> float:
    """Seconds of the slowest answer to another visitor's question."""
    longest = 0.0
    while not ended.is_set():
        begun = time.perf_counter()
        await fetch_all(url, ["/_stcore/health"])
        longest = max(longest, time.perf_counter() - begun)
        await asyncio.sleep(ASKED_EVERY)
    return longest


def row(found: HeldUp) -> list[str]:
    shares = [ms(each * 1e3) for each in (found.loop, found.thread, found.asked, found.turn)]
    return [found.work.page, found.work.what, f"{found.took:.1f} s", *shares, "met" if found.holds else "not met"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="a word of the pages, links or names to measure")
    asked = parser.parse_args()
    print(machine(), flush=True)
    works = [work for work in LONGEST if asked.only in f"{work.page} {work.query} {work.what}"]
    head = ["page", "what one visitor starts", "takes", "event loop held", "threads held", "slowest answer",
            "longest turn", "200 ms"]  # fmt: skip
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(ROOT / "benchmarks" / "blocking" / "listened_app.py", Path(folder) / "log.txt")
        try:
            asyncio.run(measured(server.url, LongWork("decoding", "", {"d_steps": 0})))  # the model is loaded
            for work in (NOBODY, *works):
                rows.append(row(asyncio.run(measured(server.url, work))))
                print(*rows[-1], sep="; ", flush=True)
        finally:
            server.stop()
    print("\n" + table(head, rows))
    print(f"at the end: {machine()}")


if __name__ == "__main__":
    main()
