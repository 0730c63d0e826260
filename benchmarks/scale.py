"""How answers and processors grow from 300 to 30,000 visitors: measured service times, a queue, stated assumptions.

python -m benchmarks.scale            print the tables
python -m benchmarks.scale --write    write them into docs/scale.md
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from attnviz.models.loading import load
from attnviz.runs.model_run import Request, run_model
from benchmarks.load.habits import OWN, SHARES
from benchmarks.measuring import machine
from benchmarks.queueing import servers_needed, wait_quantile

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
MODEL = "smollm2-135m"
VISITORS = (300, 1_000, 3_000, 10_000, 30_000)
BETWEEN = 8.0  #: seconds from one act of a visitor to the next
WITHIN = 1.0  #: seconds in which 95 of 100 passes are to be answered
APP = 0.025  #: processor seconds of the app for an answer: its budget, which benchmarks.load holds it to
BUSY = 0.7  #: the share of a processor that the app is given before another one is added
SENTENCE = "the river carried a stone past the window of the teacher who wrote a letter in the garden"
TYPED = SHARES["the class's sentence"] / sum(SHARES.values())  #: of all acts


@dataclass(frozen=True)
class Service:
    """Seconds of one pass on one processor, at so many words."""

    words: int
    mean: float
    slowest: float


def measured(words: int, times: int = 12) -> Service:
    """Passes over sentences that differ, with one thread, in processor time, so that other work does not count."""
    torch.set_num_threads(1)
    loaded, took = load(MODEL), []
    many = SENTENCE.split() * (2 + words // 10)
    for number in range(times + 2):
        text = " ".join(many[number : number + words])
        begun = time.process_time()
        run_model(Request(MODEL, text), loaded)
        took.append(time.process_time() - begun)
    took = took[2:]  # the first two warm up
    return Service(words, statistics.mean(took), max(took))


def table(service: float, own: float) -> list[str]:
    """A row for each number of visitors, where `own` of those who type a sentence type one that nobody typed before."""
    rows = [
        "| visitors | acts a second | passes a second | replicas | 95 % wait | processors of the app | of all |",
        "|---|---|---|---|---|---|---|",
    ]
    for visitors in VISITORS:
        acts = visitors / BETWEEN
        passes = acts * TYPED * own
        replicas = servers_needed(passes, service, WITHIN)
        waited = wait_quantile(replicas, passes, service)
        app = math.ceil(acts * APP / BUSY)
        rows.append(
            f"| {visitors:,} | {acts:,.0f} | {passes:,.2f} | {replicas} | {waited:.2f} s | {app} | {app + replicas} |"
        )
    return rows


def page(short: Service, long: Service) -> str:
    """docs/scale.md."""
    lines = [
        "# From 300 to 30,000 visitors",
        "",
        "A model, not a measurement: nobody has let 30,000 visitors in. `python -m benchmarks.scale --write` measures",
        "how long a pass takes here and computes the rest; a test holds the formula to a simulation of the queue.",
        "",
        "## Measured",
        "",
        f"{MODEL}, processor time of a pass with its capture on one thread, {machine()}:",
        f"{short.words} words {short.mean:.2f} s (slowest {short.slowest:.2f} s), "
        f"{long.words} words {long.mean:.2f} s (slowest {long.slowest:.2f} s).",
        "",
        "## Assumed",
        "",
        f"- A visitor acts every {BETWEEN:.0f} s, at times of his own; {TYPED:.0%} of acts are a sentence. Every other",
        "  act is answered by the app alone, from what it holds.",
        f"- A replica is one processor that makes one pass at a time, of {short.words} words. There are as many as let",
        f"  95 of 100 passes be answered within {WITHIN:.0f} s, the pass included. All have the model loaded.",
        f"- The app takes its budget of {APP * 1000:.0f} ms of a processor an answer, and is given so many processors",
        f"  that they are busy {BUSY:.0%} of the time.",
        "- Times between passes and times of passes are random without memory. Real passes differ less, and wait less.",
        "- Sending an answer over a network, and nginx, cost nothing; Ray Serve finds a free replica among any number.",
        "  Neither is true for ever: beyond what was tried, one machine and two processors, measure.",
        "",
        f"## A class: {OWN:.0%} of those who type a sentence type their own",
        "",
        *table(short.mean, OWN),
        "",
        "## The worst case: everybody types sentences that nobody typed before",
        "",
        *table(short.mean, 1.0),
        "",
        "Processors of the app grow in proportion to visitors; replicas more slowly, because many behind one",
        "line are seldom all busy at once.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/scale.md")
    chosen = parser.parse_args()
    text = page(measured(12), measured(48))
    if chosen.write:
        PAGE.write_text(text, "utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
