"""What strangers may do in a second: how fast a phone sends, and how many wrong codes a server is asked for."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress

from attnviz.rooms.room_file import rooms_folder


class Allowance:
    """So many in a second, and so many at once."""

    def __init__(self, pace: float, ahead: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.pace, self.ahead, self.clock = pace, ahead, clock
        self.left, self.at = ahead, clock()

    def take(self) -> bool:
        """Count one more; whether it is allowed."""
        now = self.clock()
        self.left, self.at = min(self.ahead, self.left + (now - self.at) * self.pace), now
        allowed = self.left >= 1
        self.left -= allowed
        return allowed


class WrongCodes:
    """Codes and secrets that were wrong, of all visitors and processes of a server together: a class has one address.

    They are counted by the clock of the machine, which all its processes share and nobody sets. At so many a second
    144,000 of 3.2 million codes are tried in a room's life.
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
