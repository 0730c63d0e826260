"""What a server holds in memory while visitors do, without a pause, what takes them an hour or several.

python -m benchmarks.load.an_hour                ten visitors, one hour
python -m benchmarks.load.an_hour --hours 4      what takes them four hours
python -m benchmarks.load.an_hour --write        keep the figures and write docs/visitors.md from them

They open every page, use any control, choose heads, move mask and scale, and type: sentences of their own, none that
another has typed, from nothing at all to twice what a hosted server reads, in several scripts. After some acts a
visitor leaves and another comes. The process's memory and what each of its caches says of itself are read every few
seconds. The longest waits are kept too: an answer that does not come within PATIENCE is an error.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.load import visitors_page
from benchmarks.load.__main__ import THINKS, held, tree
from benchmarks.load.habits import ACTIONS, EXPLORE, Habit
from benchmarks.load.visitor import Unanswered, Visitor
from benchmarks.measuring import machine
from tests.browser.conftest import ROOT, Server

HOUR = 3600.0
STAYS = 45  # acts of one visitor, then another comes
LOOKS = 3.0  # seconds between two looks at the memory
PARTS = 4  # of the time that it took: the most that was held in each shows whether memory goes on growing
PATIENCE = 180.0  # seconds: nobody pauses here, so an answer may wait behind long work of every other visitor
WAITS = 3  # how many of the longest waits are kept
PAGES = tuple("" if path.stem == "home" else path.stem for path in sorted((ROOT / "pages").glob("*.py")))
SCRIPTS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмноп", "的一是不了人我在有他这", "אבגדהוזחטי", "🙂🚲🌧🍎")
SHARES = {"a sentence": 25, "a control": 35, "another page": 20, "choose a head": 10, "mask or scale": 10}


def sentence(chance: random.Random) -> str:
    """Nothing, a few words, or more than is read; words that were never typed before."""
    letters = chance.choice(SCRIPTS)
    words = chance.choice((0, 1, 8, 8, 20, 20, 60, 250))
    return " ".join("".join(chance.choices(letters, k=chance.randint(1, 7))) for _ in range(words))


async def type_a_sentence(habit: Habit) -> float:
    """Into whatever field for text the page has."""
    fields = [each for each in habit.visitor.controls.values() if each.kind in ("text_area", "text_input")]
    if not fields:
        return await ACTIONS["a control"](habit)
    return await habit.visitor.use(habit.chance.choice(fields), string_value=sentence(habit.chance))


async def act(habit: Habit) -> None:
    """Any of the things that can be done where the visitor is."""
    kind = habit.chance.choices(list(SHARES), weights=list(SHARES.values()))[0]
    on_heads = habit.page == EXPLORE and habit.visitor.find("heads") and habit.visitor.find("head")
    if kind == "a sentence":
        await type_a_sentence(habit)
    elif kind == "another page":
        habit.page = habit.chance.choice(PAGES)
        await habit.visitor.go(habit.page)
    elif kind in ("choose a head", "mask or scale") and on_heads:
        await ACTIONS[kind](habit)
    else:
        await ACTIONS["a control"](habit)


class Watched:
    """What the process held, look by look."""

    def __init__(self, url: str, processes: list[psutil.Process]) -> None:
        self.url, self.processes = url, processes
        self.gigabytes: list[float] = []
        self.most: dict[str, float] = {}  #: of each cache, the most bytes that it said it held
        self.limits: dict[str, float] = {}

    def look(self) -> None:
        self.gigabytes.append(held(self.processes))
        text = urllib.request.urlopen(f"{self.url}/attnviz/metrics", timeout=30).read().decode()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name == "attnviz_cache_bytes":
                    cache = sample.labels["cache"]
                    self.most[cache] = max(self.most.get(cache, 0.0), sample.value)
                elif sample.name == "attnviz_cache_limit_bytes":
                    self.limits[sample.labels["cache"]] = sample.value


@dataclass
class Lived:
    """What the visitors went through."""

    came: int = 0
    errors: list[str] = field(default_factory=list)
    waits: list[tuple[float, str]] = field(default_factory=list)  #: seconds of every act, and where it was done

    def longest(self) -> list[list[Any]]:
        """The longest wait of each page, for the pages where it was longest."""
        pages: dict[str, float] = {}
        for seconds, page in self.waits:
            pages[page] = max(pages.get(page, 0.0), seconds)
        return [[page, round(pages[page], 1)] for page in sorted(pages, key=lambda each: -pages[each])[:WAITS]]


def most_of_each_part(seen: Sequence[float], parts: int = PARTS) -> list[float]:
    """The largest of each of `parts` equal parts of what was seen, in their order."""
    ends = [round(number * len(seen) / parts) for number in range(parts + 1)]
    return [max(seen[begin:end]) for begin, end in pairwise(ends) if end > begin]


async def use(url: str, visitors: int, acts: int, watched: Watched) -> Lived:
    """Let `visitors` at a time do `acts` in all."""
    left, lived = acts, Lived()

    async def place(number: int) -> None:
        nonlocal left
        chance = random.Random(number)
        while left > 0:
            lived.came += 1
            habit = Habit(Visitor(url, patience=PATIENCE), chance, page=chance.choice(PAGES))
            try:
                await habit.visitor.enter(habit.page)
                for _ in range(min(STAYS, left)):
                    left -= 1
                    start = time.perf_counter()
                    await act(habit)
                    lived.waits.append((time.perf_counter() - start, habit.page or "home"))
            except (Unanswered, LookupError, OSError) as failed:
                lived.errors.append(f"{habit.page or 'home'}: {type(failed).__name__}: {failed}"[:200])
            finally:
                await habit.visitor.leave()

    async def looks() -> None:
        while True:
            await asyncio.to_thread(watched.look)
            await asyncio.sleep(LOOKS)

    looking = asyncio.create_task(looks())
    await asyncio.gather(*(place(number) for number in range(visitors)))
    looking.cancel()
    return lived


@contextmanager
def hosted() -> Iterator[Server]:
    os.environ["ATTNVIZ_HOSTED"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        server = Server(ROOT / "app.py", Path(folder) / "log.txt")
        try:
            yield server
        finally:
            server.stop()


def measure(visitors: int, hours: float) -> dict[str, Any]:
    """The figures as they are kept."""
    acts = round(visitors * hours * HOUR / THINKS)
    with hosted() as server:
        watched = Watched(server.url, tree(server.process.pid))
        start = time.perf_counter()
        lived = asyncio.run(use(server.url, visitors, acts, watched))
        took = time.perf_counter() - start
    for error in sorted(set(lived.errors))[:10]:
        print(f"  {error}")
    seen = watched.gigabytes
    return {
        "acts": acts,
        "hours": hours,
        "at once": visitors,
        "came": lived.came,
        "errors": len(lived.errors),
        "median wait": round(statistics.median(seconds for seconds, _ in lived.waits), 2),
        "longest waits": lived.longest(),
        "minutes": round(took / 60, 1),
        "gigabytes": {"first": round(seen[0], 2), "last": round(seen[-1], 2)}
        | {"most of each part": [round(most, 2) for most in most_of_each_part(seen)]},
        "caches": {name: [round(most), round(watched.limits[name])] for name, most in sorted(watched.most.items())},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=10, help="how many at a time")
    parser.add_argument("--hours", type=float, default=1.0, help="how long they would take, pausing as visitors do")
    parser.add_argument("--write", action="store_true", help="keep the figures and write docs/visitors.md")
    options = parser.parse_args()
    print(machine())
    found = measure(options.visitors, options.hours)
    print(found)
    if options.write:
        visitors_page.keep("hour", found)


if __name__ == "__main__":
    main()
