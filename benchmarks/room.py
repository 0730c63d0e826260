"""A class in a room, on real sockets: how long a step takes to its phones, and votes to the wall.

python -m benchmarks.room                   300 phones, 20 steps, 300 votes in 3 s, through the app as it is served
python -m benchmarks.room --phones 1000     more phones
python -m benchmarks.room --processes 2 --visitors 150    a class's server behind nginx, beside visitors of Explore

The steps have the size of a head on a short sentence. All phones are in this process, on the same processors as the
server: what they take is part of every number.
"""

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import connect

from attnviz.base.packed import pack_blob, unpack_blob
from attnviz.rooms.projector import Projector
from deploy.class_server import free_port
from tests.browser.conftest import ROOT, Server

STEP = 8_000  #: bytes
BETWEEN = 0.5  #: seconds between two steps
WORDS = ["The", "animal", "crossed", "the", "street", "it"]


class Phone:
    """A phone on a real socket: the newest step and question, and when that step and the answer to each vote came."""

    def __init__(self, address: str) -> None:
        self.address, self.tab = address, secrets.token_hex(16)
        self.step: dict[str, Any] = {"title": "", "line": ""}
        self.came = 0.0  #: when the newest step did
        self.asked: dict[str, Any] | None = None
        self.counted: dict[int, float] = {}  #: when the vote on each question was answered
        self.socket: Any = None

    async def join(self) -> None:
        self.socket = await connect(self.address, open_timeout=60, ping_interval=None)
        await self.socket.send(json.dumps({"tab": self.tab}))

    async def follow(self) -> None:
        """Take what comes, until the line is lost."""
        async for message in self.socket:
            now = time.perf_counter()
            if isinstance(message, bytes):
                self.step, self.came = unpack_blob(message)[0], now
                continue
            received = json.loads(message)
            self.asked = received.get("question", self.asked)
            if "counted" in received and self.asked:
                self.counted[self.asked["id"]] = now

    async def vote(self, question: int, taps: Sequence[int]) -> float:
        """Vote; the moment at which it was sent."""
        sent = time.perf_counter()
        await self.socket.send(json.dumps({"question": question, "number": 1, "taps": taps}))
        return sent


class Wall:
    """The wall's connection, with the moment at which each number of votes came."""

    def __init__(self) -> None:
        self.votes: dict[int, float] = {}
        self.here = 0

    async def follow(self, address: str, secret: str) -> None:
        async with connect(address, ping_interval=None) as socket:
            await socket.send(json.dumps({"secret": secret}))
            async for message in socket:
                state = json.loads(message)
                self.here = state["here"]
                self.votes.setdefault(state["votes"], time.perf_counter())


async def until(holds: Any, seconds: float = 60.0) -> None:
    """Wait until `holds()`; a timeout is an error of the run."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.005)


def quantiles(times: Sequence[float]) -> str:
    low, high = np.percentile(np.array(times) * 1000, [50, 95])
    return f"median {low:.0f} ms, 95 of 100 within {high:.0f} ms, last {max(times) * 1000:.0f} ms"


async def measure(url: str, n_phones: int, n_steps: int, seconds: float) -> None:
    room = Projector.begin()
    address = f"{url.replace('http', 'ws', 1)}/r/{room.code}/socket"
    phones, wall = [Phone(address) for _ in range(n_phones)], Wall()
    joining = asyncio.Semaphore(50)

    async def attend(phone: Phone) -> None:
        async with joining:
            await phone.join()
        await phone.follow()

    async def vote(phone: Phone, within: float, number: int) -> float:
        await asyncio.sleep(within)
        return await phone.vote(7, [number % 5])

    began = time.perf_counter()
    tasks = [asyncio.create_task(attend(phone)) for phone in phones]
    tasks.append(asyncio.create_task(wall.follow(address, room.secret)))
    await until(lambda: wall.here == n_phones)
    print(f"{n_phones} phones are in after {time.perf_counter() - began:.1f} s")

    arrivals: list[float] = []
    for number in range(n_steps):
        blob = pack_blob({"title": str(number), "line": "", "link": "", "pictures": []}, secrets.token_bytes(STEP))
        written = time.perf_counter()
        await asyncio.to_thread(room.write, "step", blob)
        await asyncio.sleep(BETWEEN)
        await until(lambda number=number: all(phone.step["title"] == str(number) for phone in phones))
        arrivals += [phone.came - written for phone in phones]
    print(f"a step of {STEP // 1000} KB, from its writing to each phone, {n_steps} steps: {quantiles(arrivals)}")

    question = {"id": 7, "text": "", "words": WORDS, "query": 5, "most": 3, "truth": None}
    room.write("question", json.dumps(question))
    await asyncio.sleep(0.5)
    spread = np.random.default_rng(0).uniform(0, seconds, n_phones)
    sent = await asyncio.gather(*map(vote, phones, spread, range(n_phones)))
    await until(lambda: n_phones in wall.votes)
    await until(lambda: all(phone.counted for phone in phones))
    answers = [phone.counted[7] - at for phone, at in zip(phones, sent, strict=True)]
    print(f"{n_phones} votes in {seconds:g} s, from each vote to its answer: {quantiles(answers)}")
    late = 1000 * (wall.votes[n_phones] - max(sent))
    print(f"the last vote is on the wall {late:.0f} ms after it was sent; none is lost")
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    room.end()


@contextlib.contextmanager
def ended(command: Sequence[str]) -> Iterator[None]:
    """A program of this repository beside the block."""
    with subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT) as process:
        try:
            yield
        finally:
            process.terminate()


@contextlib.contextmanager
def class_server(processes: int) -> Iterator[str]:
    """The address of a class's server with nginx and so many processes, once it is well."""
    listen = f"127.0.0.1:{free_port()}"
    with ended(["deploy.class_server", "--processes", str(processes), "--listen", listen]):
        end = time.monotonic() + 300
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if urllib.request.urlopen(f"http://{listen}/attnviz/health", timeout=5).status == 200:
                    break
            time.sleep(0.5)
        yield f"http://{listen}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=300)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=3.0, help="in which all phones vote")
    parser.add_argument("--processes", type=int, help="of a class's server with nginx; else the app by itself")
    parser.add_argument("--visitors", type=int, default=0, help="who use the app meanwhile")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = os.environ["ATTNVIZ_ROOMS"] = stack.enter_context(tempfile.TemporaryDirectory())
        if options.processes:
            url = stack.enter_context(class_server(options.processes))
        else:
            url = stack.enter_context(Server(ROOT / "app.py", Path(folder) / "log.txt")).url
        time.sleep(15)  # it warms up beside its start
        if options.visitors:
            seconds = ["--within", "20", "--seconds", "600"]
            stack.enter_context(ended(["benchmarks.load", "--at", url, "--visitors", str(options.visitors), *seconds]))
            time.sleep(90)  # a browser says first which files an open takes; then all come, and then they act
        print(f"load of this machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        asyncio.run(measure(url, options.phones, options.steps, options.seconds))


if __name__ == "__main__":
    main()
