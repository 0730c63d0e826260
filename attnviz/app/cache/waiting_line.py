"""A queue for long work, which limits how many visitors work and how many wait.

Addresses take turns; visitors from one address go in the order in which they came. So somebody who opens ten windows
delays only himself, and cannot take the last places. A session is never twice in a line: Streamlit ends a run before
it begins the next one of the same session.
"""

import math
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app.cache.bounded_cache import is_memory_short
from attnviz.app.workarounds.streamlit_adapter import leave_if_gone, run_of_this_thread
from attnviz.base.message import Problem
from attnviz.base.words import _, ngettext

#: seconds before a waiting visitor is first told how many are before him, and between later times
BETWEEN_LOOKS = 0.3
OF_OTHERS = 2  #: places that are left to others by those who come from one address


def visitor_address() -> str | None:
    """From where the visitor of this run comes; None on this machine, and outside of a run."""
    return None if run_of_this_thread() is None else st.context.ip_address


@dataclass(eq=False)
class _Waiter:
    """A visitor in the line: his address, and an event that is set when it is his turn."""

    address: str | None
    turn: threading.Event = field(default_factory=threading.Event)


class WaitingLine:
    """A queue for the life of the process. Leaving it, at any moment, makes room for the next."""

    def __init__(self, at_once: int, longest: int, lease: float = math.inf, heavy: bool = True) -> None:
        """`at_once` may work and `longest` may wait; after `lease` seconds of somebody's work another may begin.

        `heavy`: the work takes memory, so that none is begun while memory is short.
        """
        self._heavy = heavy
        self._at_once, self._longest, self._lease = at_once, longest, lease
        self._began: dict[_Waiter, float] = {}  #: when each working visitor began
        self._line: list[_Waiter] = []
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, waiting: Callable[[int], object]) -> Iterator[None]:
        """Inside the block it is this thread's turn. Until then `waiting(n)` is called while n others must end first.

        An exception of `waiting` ends the wait: so Streamlit ends the run of a visitor who has left.
        """
        mine = _Waiter(visitor_address())
        if self._heavy and is_memory_short():
            raise Problem("This server is short of memory just now; try again in a minute")
        with self._lock:
            if len(self._line) >= self._at_once + self._longest:
                raise Problem("{n} visitors are waiting here already; try again in a minute", n=self._longest)
            self._line.insert(self._index_for(mine.address), mine)
            self._wake_next()
        try:
            while not mine.turn.wait(BETWEEN_LOOKS):
                with self._lock:
                    self._wake_next()
                    before = self._line.index(mine) - self._at_once + 1
                if before > 0:  # else it was called just now
                    waiting(before)
            yield
        finally:
            with self._lock:
                self._line.remove(mine)
                self._began.pop(mine, None)
                self._wake_next()

    @property
    def n_working(self) -> int:
        """How many work now."""
        return min(len(self._line), self._at_once)

    @property
    def n_waiting(self) -> int:
        """How many wait for their turn."""
        return max(0, len(self._line) - self._at_once)

    def _index_for(self, address: str | None) -> int:
        """Where in the line a new visitor from this address is put, so that addresses take turns.

        He goes before everybody who has more visitors of the same address in front than he has.
        """
        mine = sum(waiter.address == address for waiter in self._line)
        if address is not None and mine >= max(1, self._at_once + self._longest - OF_OTHERS):
            raise Problem("{n} visitors from your address are here already; try again in a minute", n=mine)
        before: Counter[str | None] = Counter()
        index = 0
        for number, waiter in enumerate(self._line, start=1):
            if waiter in self._began or before[waiter.address] <= mine:
                index = number
            before[waiter.address] += 1
        return index

    def _wake_next(self) -> None:
        """Tell those whose turn it is, and nobody else: three hundred who wait are not woken for each step."""
        now = time.monotonic()
        late = sum(now - began > self._lease for began in self._began.values())
        for waiter in self._line[: self._at_once + late]:
            self._began.setdefault(waiter, now)
            waiter.turn.set()


#: Pages are drawn two at a time, in the order in which they were asked for: of three hundred that a class opens at once
#: half stand while the others wait, where otherwise all stand at the end. One that computes for long holds up nobody.
PAGES = WaitingLine(2, longest=10_000, lease=0.3, heavy=False)

#: Where visitors who train wait for each other, so that half of the processors are left to those who look.
TRAININGS = WaitingLine(max(1, (os.cpu_count() or 1) // 2), longest=6)


def trainings_ahead(before: int) -> str:
    """The sentence for a visitor whose training waits in line."""
    return ngettext(
        "{n} training of another visitor is ahead of yours, which starts by itself.",
        "{n} trainings of other visitors are ahead of yours, which starts by itself.",
        before,
    ).format(n=before)


@contextmanager
def wait_in_line(line: WaitingLine) -> Iterator[None]:
    """Inside the block it is this visitor's turn; until then his place in the line stands on the page."""
    notice = _Notice()

    def waiting(before: int) -> None:
        text = ngettext(
            "{n} computation of another visitor is ahead of yours, which starts by itself.",
            "{n} computations of other visitors are ahead of yours, which starts by itself.",
            before,
        )
        notice.show(text.format(n=before))

    with line.turn(waiting):
        notice.clear()
        yield


def wait_for_another(future: Future[Any]) -> None:
    """Wait until what another visitor asked for is made, or given up."""
    notice = _Notice()
    while not future.done():
        if not wait([future], BETWEEN_LOOKS).done:
            notice.show(_("Another visitor has just asked for the same thing; it is being computed."))
    notice.clear()


class _Notice:
    """One line on the page, written only when it changes; nowhere, where no page is being drawn."""

    def __init__(self) -> None:
        self._place: DeltaGenerator | None = None
        self._text = ""

    def show(self, text: str) -> None:
        if run_of_this_thread() is None:
            return
        leave_if_gone()
        if text != self._text:
            self._place = st.empty() if self._place is None else self._place
            self._place.info(text, icon=":material/hourglass_top:")
            self._text = text

    def clear(self) -> None:
        if self._place is not None:
            self._place.empty()
