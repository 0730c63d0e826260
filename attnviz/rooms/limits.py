"""Rate limits for strangers: how fast a phone sends, and how many wrong codes may be tried."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress

from attnviz.rooms.room_file import rooms_folder


class Allowance:
    """A token bucket: `rate` in a second, and up to `capacity` at once."""

    def __init__(self, rate: float, capacity: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.capacity, self.clock = rate, capacity, clock
        self.left, self.at = capacity, clock()

    def take(self) -> bool:
        """Take one; whether it is allowed."""
        now = self.clock()
        self.left, self.at = min(self.capacity, self.left + (now - self.at) * self.rate), now
        allowed = self.left >= 1
        self.left -= allowed
        return allowed


class WrongCodes:
    """Codes and secrets that were wrong, of all visitors and processes of a server together: a class has one address.

    They are counted by the monotonic clock, which all processes of the machine share. At so many a second
    144,000 of 3.2 million codes can be tried in the life of a room.
    """

    def __init__(self, most: int = 100, seconds: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.seconds, self.clock = most, seconds, clock

    def has(self) -> bool:
        """Whether one more may be tried now."""
        with suppress(sqlite3.Error, OSError), closing(self._open()) as database:
            (count,) = database.execute("SELECT COUNT(*) FROM wrong WHERE at BETWEEN ? AND ?", self._span()).fetchone()
            return bool(count < self.most)
        return True

    def add(self) -> None:
        """Count one more."""
        with suppress(sqlite3.Error, OSError), closing(self._open()) as database:
            database.execute("DELETE FROM wrong WHERE at NOT BETWEEN ? AND ?", self._span())
            database.execute("INSERT INTO wrong VALUES (?)", (self.clock(),))

    def _span(self) -> tuple[float, float]:
        now = self.clock()
        return now - self.seconds, now

    def _open(self) -> sqlite3.Connection:
        path = ":memory:" if (folder := rooms_folder()) is None else folder / "wrong_codes"
        database = sqlite3.connect(path, timeout=1.0, isolation_level=None)
        database.execute("CREATE TABLE IF NOT EXISTS wrong (at REAL)")
        return database


WRONG_CODES = WrongCodes()
