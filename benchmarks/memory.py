"""What a hosted server's memory is made of while visitors type: python -m benchmarks.memory

Four visitors type 300 sentences of 200 tokens on Explore, each another one; in each they choose a head, and the model
runs again without its masks. Told is what the kernel counts of the server's process, by what is mapped, beside what the
caches say that they hold.
"""

import argparse
import asyncio
import os
import random
import re
import urllib.request
from collections import Counter
from pathlib import Path

from benchmarks.load.habits import EXPLORE, HEADS, LAYERS, WORDS, Habit
from benchmarks.load.visitor import Visitor
from benchmarks.measuring import machine
from benchmarks.serving import served
from benchmarks.tables import table

VISITORS, TOKENS = 4, 200
KINDS = ("weights", "libraries", "arenas", "large blocks")
WHAT_IF = "open_what_if=true&again=true&mask=none&where=all"
ARENA = 64 << 20  #: bytes; glibc puts each of its arenas' heaps at a multiple of this
HELD = re.compile(r'^attnviz_cache_bytes\{cache="(\w+)"\} (\S+)$', re.M)


def parts(pid: int) -> Counter[str]:
    """Resident bytes of a process by what they are, as the kernel maps them."""
    held: Counter[str] = Counter()
    kind = ""
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        mapped = re.match(r"([0-9a-f]+)-[0-9a-f]+ \S+ \S+ \S+ \S+ *(.*)", line)
        if mapped:
            kind = _kind(int(mapped[1], 16), mapped[2])
        elif line.startswith("Rss:"):
            held[kind] += int(line.split()[1]) * 1024
    return held


def _kind(start: int, name: str) -> str:
    if name.endswith(".safetensors"):
        return "weights"
    if name.startswith("/"):
        return "libraries"
    return "arenas" if name == "[heap]" or start % ARENA == 0 else "large blocks"


def caches(url: str) -> dict[str, float]:
    """Bytes that each cache says it holds."""
    with urllib.request.urlopen(f"{url}/attnviz/metrics") as answer:
        return {name: float(held) for name, held in HELD.findall(answer.read().decode())}


async def typed(habit: Habit, sentences: int) -> None:
    """So many sentences, one after the other."""
    for _ in range(sentences):
        text = " ".join(habit.chance.choices(WORDS, k=TOKENS))
        await habit.visitor.use(habit.control("text"), string_value=text)
        head = {"layer": habit.chance.randrange(LAYERS), "head": habit.chance.randrange(HEADS)}
        await habit.tell("heads", "pick", head)


async def measured(pid: int, url: str, stops: list[int]) -> list[dict[str, str]]:
    """A row for each number of sentences in `stops`."""
    habits = [Habit(Visitor(url), random.Random(number)) for number in range(VISITORS)]
    for habit in habits:
        await habit.visitor.enter(EXPLORE, WHAT_IF)
    rows, done = [], 0
    for stop in stops:
        await asyncio.gather(*(typed(habit, (stop - done) // VISITORS) for habit in habits))
        done = stop
        held, kept = parts(pid), caches(url)
        runs = sum(kept[name] for name in ("runs", "reruns", "results"))
        numbers = {"process": float(held.total()), **{kind: float(held[kind]) for kind in KINDS}}
        numbers |= {"caches: sentences": runs, "charts": kept.get("charts", 0.0)}
        rows.append({"sentences": str(stop)} | {name: f"{number / 1e6:,.0f} MB" for name, number in numbers.items()})
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", default="0,20,60,100,200,300", help="after how many to look")
    options = parser.parse_args()
    os.environ["ATTNVIZ_HOSTED"] = "1"
    print(machine())
    with served() as server:
        rows = asyncio.run(measured(server.process.pid, server.url, [int(n) for n in options.sentences.split(",")]))
    print(table(rows))


if __name__ == "__main__":
    main()
