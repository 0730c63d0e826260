"""A queue for long work: so many visitors at a time, the others in the order in which they came."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attnviz.core.message import Problem

BETWEEN_LOOKS = 0.2  #: seconds between two looks at the line, and between two updates to those who wait


class WaitingLine:
    """A line that is as long as the process lives. Leaving it, at any moment, makes room for the next."""

    def __init__(self, at_once: int, longest: int) -> None:
        """`longest`: how many may wait behind those whose turn it is."""
        self._at_once, self._longest = at_once, longest
        self._line: list[object] = []
        self._moved = threading.Condition()

    @contextmanager
    def turn(self, waiting: Callable[[int], object]) -> Iterator[None]:
        """Inside the block it is this thread's turn. `waiting(n)` is called meanwhile; n others must end before.

        Whatever `waiting` raises ends the wait: Streamlit ends so the run of a visitor who has left.
        """
        mine = object()
        with self._moved:
            if len(self._line) >= self._at_once + self._longest:
                raise Problem("{n} visitors are waiting for the same already; try again in a minute", n=self._longest)
            self._line.append(mine)
        try:
            while before := self._before(mine):
                waiting(before)
                with self._moved:
                    self._moved.wait(BETWEEN_LOOKS)
            yield
        finally:
            with self._moved:
                self._line.remove(mine)
                self._moved.notify_all()

    def _before(self, mine: object) -> int:
        """How many must end before it is this one's turn."""
        with self._moved:
            return max(0, self._line.index(mine) - self._at_once + 1)
