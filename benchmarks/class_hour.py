"""A class's hour: lesson 1, two votes and the class as a head, while a process is killed; nothing may be lost.

python -m benchmarks.class_hour --phones 200     two processes behind nginx, 200 phones, a wall and a student's browser

What is voted and answered is compared with the room's file at the end; a phone that was thrown out comes back.
"""

import argparse
import asyncio
import os
import random
import signal
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import expect
from websockets.exceptions import WebSocketException

from attnviz.app.teaching import SENTENCES
from attnviz.pages.lessons.panels import open_lesson
from attnviz.rooms.room_file import RoomFile
from benchmarks.harness import chromium
from benchmarks.room import Phone, class_server, quantiles
from tests.browser.conftest import at_rest
from tests.waiting import until

WALL = ".st-key-wall"
PHONE = {"width": 390, "height": 844}
LESSON = "attention"
READERS = {SENTENCES[0]: ("animal", "street"), SENTENCES[1]: ("trophy", "suitcase"), SENTENCES[2]: ("bread", "woman")}
VOTED_WITHIN = 3.0  #: seconds


class Student(Phone):
    """One who follows, votes on every question once, and comes back when he is thrown out."""

    returns = -1

    async def attend(self) -> None:
        while True:
            with suppress(OSError, WebSocketException, TimeoutError):
                await self.join()
                self.returns += 1
                voting = asyncio.create_task(self._vote())
                try:
                    await self.follow()
                finally:
                    voting.cancel()
            await asyncio.sleep(random.uniform(0.5, 3))

    async def _vote(self) -> None:
        """Vote at a moment of its own; what was not answered is sent again after the next return."""
        sent = set(self.counted)
        while True:
            asked = self.asked
            if asked and asked["truth"] is None and asked["id"] not in sent:
                await asyncio.sleep(random.uniform(0, VOTED_WITHIN))
                sent.add(asked["id"])
                await self.vote(asked["id"], choose(asked))
            await asyncio.sleep(0.05)


def choose(asked: dict[str, Any]) -> list[int]:
    """What a student taps: of a sentence, three of four the noun that is meant."""
    if asked["query"] < 0:
        return [random.randrange(len(asked["words"]))]
    meant, other = (asked["words"].index(word) for word in READERS[asked["text"]])
    chance = random.random()
    return [meant] if chance < 0.75 else [other] if chance < 0.9 else random.sample(range(asked["query"]), 3)


class Hour:
    """The class beside the browsers, in a thread of its own."""

    def __init__(self, address: str, n_phones: int) -> None:
        self.phones = [Student(address) for _ in range(n_phones)]
        threading.Thread(target=lambda: asyncio.run(self._attend()), daemon=True).start()

    async def _attend(self) -> None:
        await asyncio.gather(*(phone.attend() for phone in self.phones))

    def wait(self, holds: Any) -> None:
        until(lambda: all(map(holds, self.phones)), 90)

    def votes(self) -> dict[int, set[str]]:
        """The tabs whose vote on each question was answered."""
        questions = set[int]().union(*(phone.counted for phone in self.phones))
        return {each: {phone.tab for phone in self.phones if each in phone.counted} for each in questions}


def workers(server: int) -> dict[int, int]:
    """The processes of the app under a class's server, and how many visitors each has."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    counts = {}
    for child in children:
        command = Path(f"/proc/{child}/cmdline").read_text().split("\0")
        if "--server.port" in command:
            port = command[command.index("--server.port") + 1]
            metrics = urllib.request.urlopen(f"http://127.0.0.1:{port}/attnviz/metrics", timeout=20).read().decode()
            lines = (line.split() for line in metrics.splitlines() if line.startswith("attnviz_visitors "))
            counts[int(child)] = int(float(next(lines)[1]))
    return counts


def teach(browser: Any, url: str, server: int, n_phones: int) -> None:
    """Teach the hour; fails where a vote that was answered is not in the room's file."""
    wall, student = (browser.new_page(viewport=size) for size in ({"width": 1280, "height": 720}, PHONE))

    def press(name: str) -> None:
        wall.locator(f'{WALL} [data-does="{name}"]').click()

    began = time.perf_counter()
    wall.goto(f"{url}/lessons?lesson={LESSON}")
    at_rest(wall)
    wall.get_by_role("button", name="Teach").click()
    code = wall.locator(f"{WALL} .wl-join .wl-code").text_content()
    print(f"a room after {time.perf_counter() - began:.1f} s")
    hour = Hour(f"{url.replace('http', 'ws', 1)}/r/{code}/socket", n_phones)
    student.goto(f"{url}/r/{code}")
    expect(wall.locator(WALL)).to_contain_text(f"{n_phones + 1} are here", timeout=90_000)
    press("hide")

    def vote(*presses: str, killed: bool = False) -> None:
        for name in presses:
            press(name)
        student.locator(".ph-words button").nth(1).click()
        if killed:
            worst = max((counts := workers(server)), key=lambda each: counts[each])
            print(f"killed: the process that has {counts[worst]} of {sum(counts.values())} visitors")
            os.kill(worst, signal.SIGKILL)
        student.locator(".ph-vote").click()
        done = f"{n_phones + 1} of {n_phones + 1} have voted"
        began = time.perf_counter()
        expect(wall.locator(WALL)).to_contain_text(done, timeout=120_000)
        print(f"  all votes are on the wall {time.perf_counter() - began:.1f} s after the student's own")
        press("show")
        expect(student.locator(".rm-mine").first).to_be_visible(timeout=60_000)

    steps = open_lesson.LESSONS[LESSON].steps
    for number, step in enumerate(steps, 1):
        if number > 1:
            began = time.perf_counter()
            wall.keyboard.press("ArrowRight")
            hour.wait(lambda phone, number=number: f"Step {number} of" in phone.step["line"])
            times = [phone.came - began for phone in hour.phones]
            print(f"step {number}, from the key to each phone: {quantiles(times)}")
            expect(student.locator(".ph-line")).to_contain_text(f"Step {number} of")
        if step.question and number in (2, 6):
            vote("ask", "page")
            press("hide")
            expect(wall.locator(f"{WALL} dialog[open]")).to_have_count(0)
    for number, sentence in enumerate(SENTENCES, 1):
        vote("ask", f"ask {sentence}", killed=number == 2)
        nearest, chance = wall.locator(f"{WALL} dialog p").all_text_contents()[-2:]
        print(f"  {nearest} {chance}")
    returns = Counter(phone.returns for phone in hour.phones)
    print(f"{n_phones - returns[0]} phones were thrown out and came back")
    file = RoomFile.open(code or "")
    assert file is not None
    with file:
        rows = file.database.execute("SELECT question, tab FROM vote").fetchall()
    for question, tabs in hour.votes().items():
        stored = {tab for asked, tab in rows if asked == question}
        print(f"votes answered {len(tabs)}, stored {len(stored)}, lost {len(tabs - stored)}")
        assert len(tabs) == n_phones
        assert tabs <= stored
    press("open")
    press("end")
    press("end")
    expect(student.get_by_text("This class has ended")).to_be_visible()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=100)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATTNVIZ_ROOMS"] = folder
        with (
            Path(folder, "log.txt").open("w") as log,
            class_server(2, options.port, log) as (url, server),
            chromium() as browser,
        ):
            time.sleep(15)  # it warms up beside its start
            print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
            teach(browser, url, server, options.phones)


if __name__ == "__main__":
    main()
