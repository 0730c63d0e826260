"""How many visitors one server holds.

python -m benchmarks.load                        300 visitors who open within 30 s and then act for two minutes
python -m benchmarks.load --visitors 40,100,300  a curve
python -m benchmarks.load --within 5 --seconds 0 a class that opens at once and then does nothing
python -m benchmarks.load --at URL               against a server that runs already, such as that of `make serve-class`

Visitors speak Streamlit's protocol without a browser (benchmarks/load/visitor.py), and fetch with every open the
files that a real Chromium fetched with a cold cache in the same run. A visitor acts every 8 s on average. The clients'
own processor time is reported: times count only while it stays under 0.3 of a core.
"""

import argparse
import asyncio
import os
import random
import time
from contextlib import ExitStack
from statistics import median
from urllib.parse import urlsplit

from benchmarks.driving import HEAD
from benchmarks.harness import chromium, late, machine, ms, served
from benchmarks.load.habits import EXPLORE, OWN, Habit
from benchmarks.load.visitor import Visitor

THINKS = 8.0  # seconds between two acts of a visitor, on average


def cold_files(url: str) -> list[str]:
    """What Chromium fetches from the server with an empty cache until the explorer stands, its page left out."""
    asked: list[str] = []
    with chromium() as browser:
        page = browser.new_page(bypass_csp=True)
        page.on("response", lambda answer: asked.append(answer.url) if answer.status == 200 else None)
        page.goto(f"{url}/{EXPLORE}")
        page.wait_for_function(f"performance.getEntriesByName('{HEAD}').length > 0", timeout=120_000)
    mine = (urlsplit(each) for each in asked if each.startswith(url))
    paths = dict.fromkeys(each.path + (f"?{each.query}" if each.query else "") for each in mine)
    return [path for path in paths if path != f"/{EXPLORE}"]


async def class_of(
    base: str, files: list[str], visitors: int, within: float, seconds: float
) -> tuple[list[float], list[float], list[str]]:
    """`visitors` who come `within` so many seconds and act for `seconds` then: each open, answer and error."""
    opens: list[float] = []
    answers: list[float] = []
    errors: list[str] = []
    end = time.perf_counter() + within + seconds

    async def one(number: int) -> None:
        chance = random.Random(number)
        habit = Habit(Visitor(base, f"attnviz_class={number}"), chance, own=chance.random() < OWN)
        await asyncio.sleep(within * number / visitors)
        try:
            opens.append(await habit.visitor.open(EXPLORE, "", files))
            while seconds and time.perf_counter() < end:  # a class that only opens, only opens
                await asyncio.sleep(chance.uniform(0.5, 1.5) * THINKS)
                answers.append(await habit.act())
        except Exception as failed:  # of many kinds, the connection's own among them
            errors.append(f"{habit.doing}: {type(failed).__name__}: {failed}"[:200])
        finally:
            await habit.visitor.leave()

    await asyncio.gather(*(one(number) for number in range(visitors)))
    return opens, answers, errors


def quantiles(seconds: list[float]) -> str:
    if len(seconds) < 2:
        return "too few"
    return f"p50 {ms(median(seconds) * 1000)}, p95 {ms(late(seconds) * 1000)} ({len(seconds):,})"


def report(url: str, files: list[str], visitors: int, within: float, seconds: float) -> None:
    """Let so many visitors come, and print what they met."""
    own, start = time.process_time(), time.perf_counter()
    opens, answers, errors = asyncio.run(class_of(url, files, visitors, within, seconds))
    clients = (time.process_time() - own) / (time.perf_counter() - start)
    print(f"\n{visitors} visitors, {within:.0f} s of opens and {seconds:.0f} s of acts:")
    print(f"  opens   {quantiles(opens)}")
    print(f"  answers {quantiles(answers)}")
    verdict = "" if clients < 0.3 else ": too much, these times do not count"
    print(f"  errors {len(errors)}; clients used {clients:.2f} of a core{verdict}")
    for error in sorted(set(errors))[:5]:
        print(f"    {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", default="300", help="how many, or several numbers by comma")
    parser.add_argument("--seconds", type=float, default=120, help="how long they act after all have come")
    parser.add_argument("--within", type=float, default=30, help="seconds in which all of them come")
    parser.add_argument("--at", help="the address of a server that runs already")
    options = parser.parse_args()
    print(machine())
    os.environ["ATTNVIZ_HOSTED"] = "1"
    with ExitStack() as stack:
        url = options.at or stack.enter_context(served()).url
        files = cold_files(url)
        print(f"{len(files)} files with a cold cache")
        for visitors in map(int, options.visitors.split(",")):
            report(url, files, visitors, options.within, options.seconds)


if __name__ == "__main__":
    main()
