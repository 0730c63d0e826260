"""How many visitors one server holds, and what each costs it.

python -m benchmarks.load                        300 visitors who open within 30 s and then act for two minutes
python -m benchmarks.load --visitors 40,100,300  a curve
python -m benchmarks.load --kinds                processor time by kind of answer, one visitor at a time
python -m benchmarks.load --write ...            keep what was measured, and write docs/visitors.md from it
python -m benchmarks.load --at URL               against a server that runs already, several processes or not

Visitors speak Streamlit's protocol without a browser (benchmarks/load/visitor.py), and fetch with every open the
files that a real Chromium fetched with a cold cache in the same run. A visitor acts every 8 s on average. Real
browsers come among them (benchmarks/load/real_browser.py), and what they see is said apart. The clients' own processor
time is reported: times count only while it stays under 0.3 of a core.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil
from playwright.sync_api import sync_playwright

from benchmarks.load import visitors_page
from benchmarks.load.habits import ACTIONS, EXPLORE, OTHER_PAGES, OWN, WITH_OWN, Habit
from benchmarks.load.real_browser import PAINTED, RealBrowser
from benchmarks.load.visitor import MADE, Visitor
from benchmarks.measuring import machine
from tests.browser.conftest import CHROMIUM, QUIET, ROOT, Server

THINKS = 8.0  # seconds between two acts of a visitor, on average
COMES_WITHIN = 30.0
RESTS = 0.05  # seconds of processor time within one that a server takes at rest, at most


@dataclass
class Counted:
    """Seconds of every open and answer, by kind, and what went wrong."""

    opens: list[float] = field(default_factory=list)
    answers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)

    @property
    def all_answers(self) -> list[float]:
        return [each for kind in self.answers.values() for each in kind]


def cold_files(url: str) -> list[str]:
    """What Chromium fetches from the server with an empty cache until the explorer stands, its page left out."""
    asked: list[str] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = chromium.new_page(bypass_csp=True)
        page.on("response", lambda answer: asked.append(answer.url) if answer.status == 200 else None)
        page.goto(f"{url}/{EXPLORE}")
        page.wait_for_function(PAINTED, timeout=120_000)
        chromium.close()
    mine = (urlsplit(each) for each in asked if each.startswith(url))
    paths = dict.fromkeys(each.path + (f"?{each.query}" if each.query else "") for each in mine)
    return [path for path in paths if path != f"/{EXPLORE}"]


def tree(pid: int) -> list[psutil.Process]:
    """A process and its children."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def spent(processes: list[psutil.Process]) -> float:
    """Seconds of processor time."""
    return sum(_spent(each) for each in processes)


def _spent(process: psutil.Process) -> float:
    """Of one process: to the nanosecond on Linux, where every process has a clock; else to a hundredth of a second."""
    if sys.platform == "linux":
        return time.clock_gettime((~process.pid << 3) | 2)  # as clock_getcpuclockid makes it of a process's id
    return sum(process.cpu_times()[:2])


def held(processes: list[psutil.Process]) -> float:
    """GB in memory."""
    return sum(each.memory_info().rss for each in processes) / 1e9


async def class_of(base: str, files: list[str], visitors: int, seconds: float) -> Counted:
    """`visitors` who come within half a minute and act for `seconds` after that."""
    counted = Counted()
    end = time.perf_counter() + COMES_WITHIN + seconds

    async def one(number: int) -> None:
        chance = random.Random(number)
        habit = Habit(Visitor(base, f"attnviz_class={number}"), chance, own=chance.random() < OWN)
        await asyncio.sleep(COMES_WITHIN * number / visitors)
        try:
            counted.opens.append(await habit.visitor.open(EXPLORE, "", files))
            while time.perf_counter() < end:
                await asyncio.sleep(chance.uniform(0.5, 1.5) * THINKS)
                kind, taken = await habit.act()
                counted.answers[kind].append(taken)
        except Exception as failed:  # of many kinds, the connection's own among them
            counted.errors.append(f"{habit.doing}: {type(failed).__name__}: {failed}"[:200])
        finally:
            await habit.visitor.leave()

    await asyncio.gather(*(one(number) for number in range(visitors)))
    return counted


async def kinds(base: str, files: list[str], processes: list[psutil.Process], times: int) -> dict[str, list[float]]:
    """Processor seconds of the server for an open, and for each kind of answer, one visitor at a time."""
    cost: dict[str, list[float]] = defaultdict(list)

    async def clocked(kind: str, doing: object) -> None:
        before = spent(processes)
        await doing  # type: ignore[misc]
        await asyncio.sleep(0.15)  # what the server does after its answer belongs to it
        cost[kind].append(spent(processes) - before)

    await _at_rest(processes)
    for number in range(times):
        habit = Habit(Visitor(base), random.Random(number))
        await clocked(
            "an open's files", habit.visitor.fetch([f"/{EXPLORE}", *(each for each in files if MADE not in each)])
        )
        await clocked("an open's page", habit.visitor.enter(EXPLORE))
        await clocked("an open's heads", habit.visitor.fetch([each for each in files if MADE in each]))
        for kind in ("choose a head", "mask or scale", "the class's sentence", "a control"):
            await clocked(kind, ACTIONS[kind](habit))
        await _round(habit, clocked, "")
        await clocked("a sentence of one's own", ACTIONS["a sentence of one's own"](habit))
        await clocked(f"a control{WITH_OWN}", ACTIONS["a control"](habit))
        await _round(habit, clocked, WITH_OWN)
        await habit.visitor.leave()
    return cost


async def _at_rest(processes: list[psutil.Process]) -> None:
    """Wait until a server that has just started has warmed up: that is nobody's open or answer."""
    before = spent(processes)
    while True:
        await asyncio.sleep(1)
        now = spent(processes)
        if now - before < RESTS:
            return
        before = now


async def _round(habit: Habit, clocked: Callable[[str, object], Awaitable[None]], how: str) -> None:
    """Each page in turn and one of its controls, back to Explore at last; `how` ends the names of what is clocked."""
    for page in (*OTHER_PAGES, EXPLORE):
        habit.page = page
        await clocked(f"turn to {page or 'home'}{how}", habit.visitor.go(page))
        if page != EXPLORE:
            await clocked(f"a control of {page or 'home'}{how}", ACTIONS["a control"](habit))


def quantiles(seconds: list[float]) -> str:
    if not seconds:
        return "none"
    middle, late = np.quantile(seconds, [0.5, 0.95])
    return f"p50 {middle * 1000:,.0f} ms, p95 {late * 1000:,.0f} ms ({len(seconds):,})"


def both(seconds: list[float]) -> list[float]:
    """Median and 95th percentile; nothing of nothing."""
    return [round(float(each), 4) for each in np.quantile(seconds, [0.5, 0.95])] if seconds else []


def report_class(
    url: str, files: list[str], processes: list[psutil.Process], visitors: int, seconds: float, browsers: int
) -> dict[str, Any]:
    """Measure, print, and give the figures as they are kept."""
    mine = psutil.Process(os.getpid())
    real = [RealBrowser(url, number) for number in range(browsers)]
    for each in real:
        each.start()
    before, own, start = spent(processes), spent([mine]), time.perf_counter()
    counted = asyncio.run(class_of(url, files, visitors, seconds))
    took = time.perf_counter() - start
    for each in real:
        each.stop()
        counted.errors.extend(each.errors)
    clients = (spent([mine]) - own) / took
    print(f"\n{visitors} visitors, {COMES_WITHIN:.0f} s of opens and {seconds:.0f} s of acts:")
    print(f"  opens   {quantiles(counted.opens)}")
    print(f"  answers {quantiles(counted.all_answers)}")
    for kind, taken in sorted(counted.answers.items()):
        print(f"    {kind:26} {quantiles(taken)}")
    opens, answers = ([taken for each in real for taken in getattr(each, kind)] for kind in ("opens", "answers"))
    if real:
        print(f"  of {len(real)} real browsers, until it is painted:")
        print(f"    opens {quantiles(opens)}; answers {quantiles(answers)}")
    said = "" if clients < 0.3 else ": too much, these times do not count"
    print(f"  errors {len(counted.errors)}; clients used {clients:.2f} of a core{said}")
    for error in sorted(set(counted.errors))[:5]:
        print(f"    {error}")
    found: dict[str, Any] = {"visitors": visitors, "errors": len(counted.errors), "clients": round(clients, 3)}
    found |= {"opens": both(counted.opens), "answers": both(counted.all_answers), "painted": both(answers)}
    if processes:
        found |= {"cores": round((spent(processes) - before) / took, 3), "gigabytes": round(held(processes), 3)}
        print(f"  server: {found['cores']:.2f} cores, {found['gigabytes']:.2f} GB")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", default="300", help="how many, or several numbers by comma")
    parser.add_argument("--seconds", type=float, default=120, help="how long they act after all have come")
    parser.add_argument("--kinds", type=int, nargs="?", const=20, default=0, help="processor time by kind, so often")
    parser.add_argument("--browsers", type=int, default=1, help="real ones among the visitors")
    parser.add_argument("--at", help="the address of a server that runs already")
    parser.add_argument("--pid", type=int, help="its process, to tell what it and its children use")
    parser.add_argument("--write", action="store_true", help="keep the figures and write docs/visitors.md")
    options = parser.parse_args()
    print(machine())
    os.environ["ATTNVIZ_HOSTED"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        server = None if options.at else Server(ROOT / "app.py", Path(folder) / "log.txt")
        url = server.url if server else options.at
        try:
            files = cold_files(url)
            print(f"{len(files)} files with a cold cache")
            pid = server.process.pid if server else options.pid
            processes = tree(pid) if pid else []
            if options.kinds:
                costs = {}
                for kind, cost in asyncio.run(kinds(url, files, processes, options.kinds)).items():
                    mean, middle = (round(float(each) * 1000, 1) for each in (np.mean(cost), np.median(cost)))
                    costs[kind] = [mean, middle]
                    print(f"  {kind:28} median {middle:6.0f} ms, mean {mean:6.0f} ms of processor time")
                if options.write:
                    visitors_page.keep("kinds", costs)
                return
            rows = []
            for visitors in map(int, options.visitors.split(",")):
                rows.append(report_class(url, files, processes, visitors, options.seconds, options.browsers))
                if options.write:
                    visitors_page.keep("one" if server else "several", rows)
        finally:
            if server:
                server.stop()


if __name__ == "__main__":
    main()
