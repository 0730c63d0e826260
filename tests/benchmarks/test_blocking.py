"""What holds up other visitors: the benchmark hears it where it happens, and asks for every section of three pages."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs

import pytest

from attnviz.pages.compare import choices
from attnviz.pages.decoding import choices as decoding_choices
from attnviz.pages.positions import choices as positions_choices
from benchmarks.blocking.heartbeats import Heard, TimedLine, beat_in_the_loop
from benchmarks.blocking.long_work import LONGEST

HELD = 0.3  # seconds


@pytest.mark.parametrize(
    "page, choice",
    [
        (decoding_choices.PAGE, decoding_choices.VIEW),
        (positions_choices.PAGE, positions_choices.SECTION),
        (choices.PAGE, choices.SECTION),
    ],
    ids=["decoding", "positions", "compare"],
)
def test_every_section_is_asked_for_by_choices_that_its_page_declares(page, choice):
    mine = [parse_qs(work.query) for work in LONGEST if choice.name in work.chosen]
    assert {asked[choice.name][0] for asked in mine} == set(choice.ids)
    declared = {each.name for each in page}
    assert {name for asked in mine for name in asked} <= declared


def test_who_holds_the_event_loop_is_heard():
    heard = Heard()

    async def hold() -> None:
        beating = asyncio.create_task(beat_in_the_loop(heard))
        await asyncio.sleep(0.05)
        time.sleep(HELD)
        await asyncio.sleep(0.05)
        beating.cancel()

    with ThreadPoolExecutor(1) as another:  # a browser's test before it in this process keeps a loop in this thread
        another.submit(asyncio.run, hold()).result()
    assert heard.told()["loop"][0] > HELD / 2  # it was due at some time within
    heard.clear()
    assert heard.told() == {"loop": [], "thread": [], "turn": []}


def test_a_turn_is_timed_also_where_it_ends_in_an_error():
    heard = Heard()
    line = TimedLine(1, 1, heard)

    def fail() -> None:
        with line.turn(lambda _before: None):
            time.sleep(0.05)
            raise ValueError("lost")

    with pytest.raises(ValueError, match="lost"):
        fail()
    assert heard.turn[0] >= 0.05
    assert line.taken == 0
