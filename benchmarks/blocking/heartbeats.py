"""Heartbeats inside a process: how late its event loop and a thread of it come, and how long a turn takes.

A thread that wants to go on needs Python's lock, as every answer to a visitor does; the event loop takes in what every
visitor sends. A turn is what a computation has while others wait for theirs.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from attnviz.app.cache.waiting_line import WaitingLine

EVERY = 0.005  # seconds between two beats


@dataclass
class Heard:
    """Seconds that every late beat came too late, and that every turn took, since the last `clear`."""

    loop: list[float] = field(default_factory=list)
    thread: list[float] = field(default_factory=list)
    turn: list[float] = field(default_factory=list)

    def clear(self) -> None:
        for late in (self.loop, self.thread, self.turn):
            late.clear()

    def told(self) -> dict[str, list[float]]:
        """The ten longest of each."""
        return {name: sorted(late, reverse=True)[:10] for name, late in vars(self).items()}


def beat_in_a_thread(heard: Heard) -> None:
    """Begin to beat in a thread that ends with the process."""

    def beat() -> None:
        while True:
            due = time.perf_counter() + EVERY
            time.sleep(EVERY)
            heard.thread.append(time.perf_counter() - due)

    threading.Thread(target=beat, daemon=True).start()


async def beat_in_the_loop(heard: Heard) -> None:
    """Beat until the task is cancelled."""
    while True:
        due = time.perf_counter() + EVERY
        await asyncio.sleep(EVERY)
        heard.loop.append(time.perf_counter() - due)


class TimedLine(WaitingLine):
    """A line that notes how long each turn took."""

    def __init__(self, at_once: int, longest: int, heard: Heard) -> None:
        super().__init__(at_once, longest)
        self._heard = heard

    @contextmanager
    def turn(self, waiting: Callable[[int], object]) -> Iterator[None]:
        with super().turn(waiting):
            begun = time.perf_counter()
            try:
                yield
            finally:
                self._heard.turn.append(time.perf_counter() - begun)
