"""The state of a room: one SQLite file, which all processes of a server share.

What is written is committed before it is answered, so that a killed process loses nothing. Of a student there is a
random number of the browser's tab, and what it voted. The file is unlinked when the room ends: what SQLite deletes
stays readable in its log.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from attnviz.base.message import Problem
from attnviz.models import settings

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  #: of codes: no vowels, so no words; no Y, which is read as V
CODE = re.compile(rf"[{LETTERS}]{{5}}")
LIFE = 4 * 3600.0  #: seconds from the last sign of life to a room's end
MOST_ROOMS = 200  #: of a server, at once
FEWEST_SHOWN = 5  #: votes from which on they are on the wall: of fewer, one could be told from the others
CURRENT = 5.0  #: seconds from a process's last sign of life for which its phones count
PROCESSES = "processes"  #: the folder of the processes' signs of life: a file each, written in no room's database

LARGEST_NUMBER = 1e9  #: that is a vote
MOST_BARS = 8  #: of a vote of numbers

_TABLES = """
CREATE TABLE room (secret TEXT, alive REAL, projector TEXT, is_closed INTEGER DEFAULT 0);
CREATE TABLE state (name TEXT PRIMARY KEY, number INTEGER, content BLOB);
CREATE TABLE vote (question INTEGER, tab TEXT, number INTEGER, taps TEXT, PRIMARY KEY (question, tab));
CREATE TABLE here (process TEXT PRIMARY KEY, phones INTEGER, walls INTEGER);
CREATE TABLE command (number INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT);
"""


_OVERVIEW = """
SELECT alive, projector, is_closed, COALESCE(SUM(phones), 0), COALESCE(SUM(walls), 0),
  (SELECT GROUP_CONCAT(name || ' ' || number) FROM state)
FROM room LEFT JOIN here ON process IN (SELECT value FROM json_each(?))
"""


@dataclass(frozen=True)
class Vote:
    """The words that a tab tapped, by index, ascending, or its number. Of a tab's votes the largest `number` stays."""

    question: int
    tab: str
    number: int
    taps: tuple[float, ...]


@dataclass(frozen=True)
class Counts:
    """How many have voted, and how many of them tapped each word, or are in each range of numbers, by its `labels`.

    `weights` sum to the votes: of who taps three words, each has a third.
    """

    votes: int
    taps: tuple[int, ...]
    weights: tuple[float, ...]
    labels: tuple[str, ...] = ()


def rooms_folder() -> Path | None:
    """The folder of the rooms' files, its owner's alone; None where rooms are switched off."""
    folder = settings.current_settings().rooms
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    return folder


class RoomFile:
    """A connection to a room's file, for one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path, self.code = path, path.stem
        self.database = sqlite3.connect(
            f"{path.as_uri()}?mode=rw", uri=True, timeout=5.0, isolation_level=None, check_same_thread=False
        )

    @classmethod
    def create(cls) -> tuple[Self, str]:
        """A new room and its secret. A Problem where rooms are switched off or all are taken."""
        folder = rooms_folder()
        if folder is None:
            raise Problem("Rooms are switched off on this server.")
        remove_ended(folder)
        if len(list(folder.glob("*.room"))) >= MOST_ROOMS:
            raise Problem("This server has no room left: try again when another class has ended.")
        secret = secrets.token_urlsafe(18)
        while True:
            path = folder / f"{''.join(secrets.choice(LETTERS) for _ in range(5))}.room"
            with suppress(FileExistsError):
                path.touch(mode=0o600, exist_ok=False)
                break
        room = cls(path)
        room.database.execute("PRAGMA journal_mode = WAL")
        room.database.executescript(_TABLES)
        room.database.execute("INSERT INTO room VALUES (?, ?, '', 0)", (_hash(secret), time.time()))
        return room, secret

    @classmethod
    def open(cls, code: str) -> Self | None:
        """The room of a code, typed in any case; None where there is none, or no longer."""
        folder, code = rooms_folder(), code.strip().upper()
        path = None if folder is None or not CODE.fullmatch(code) else folder / f"{code}.room"
        if path is None or not path.exists():
            return None
        with suppress(sqlite3.Error):  # it ended just now, or begins
            room = cls(path)
            if room.alive() > time.time() - LIFE:
                return room
            room.end()
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.database.close()

    def end(self) -> None:
        """Remove the room and all that is known of it."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def is_secret(self, secret: str) -> bool:
        """Whether this is the secret of who opened the room."""
        return hmac.compare_digest(self._value("SELECT secret FROM room"), _hash(secret))

    def seat(self, tab: str) -> str:
        """The token with which a tab comes back in when the door is closed. No list of tabs is kept."""
        return hmac.new(self._value("SELECT secret FROM room").encode(), tab.encode(), "sha256").hexdigest()[:32]

    def is_closed(self) -> bool:
        """Whether the door is closed: nobody comes in who was not here before."""
        return bool(self._value("SELECT is_closed FROM room"))

    def close_door(self, is_closed: bool) -> None:
        """Close the door to everybody who was not here before, or open it again."""
        self.database.execute("UPDATE room SET is_closed = ?", (is_closed,))

    def command(self, content: str) -> None:
        """Ask the projector's page for something."""
        self.database.execute("INSERT INTO command (content) VALUES (?)", (content,))

    def commands(self, after: int) -> list[tuple[int, str]]:
        """What the projector's page was asked for after a number, with numbers."""
        return self.database.execute("SELECT number, content FROM command WHERE number > ?", (after,)).fetchall()

    def projector(self) -> str:
        """The name of the newest projector."""
        return str(self._value("SELECT projector FROM room"))

    def alive(self) -> float:
        """The time of the last sign of life, by the machine's clock."""
        return float(self._value("SELECT alive FROM room"))

    def touch(self) -> None:
        """Note a sign of life."""
        self.database.execute("UPDATE room SET alive = ?", (time.time(),))

    def version(self) -> int:
        """A number that changes with each change by another connection."""
        return int(self._value("PRAGMA data_version"))

    def take_over(self) -> str:
        """Become the room's projector, in the place of any before; the name to publish under."""
        name = secrets.token_hex(8)
        self.database.execute("UPDATE room SET projector = ?, alive = ?", (name, time.time()))
        return name

    def write(self, projector: str, name: str, content: bytes | str) -> bool:
        """Write the state `name` for all, under its next number; False where another is the projector now."""
        with closing(self.database.cursor()) as cursor:
            cursor.execute(
                "INSERT INTO state SELECT ?, 1, ? FROM room WHERE projector = ?"
                " ON CONFLICT (name) DO UPDATE SET number = number + 1, content = excluded.content",
                (name, content, projector),
            )
            written = cursor.rowcount > 0
        if written:
            self.touch()
        return written

    def read(self, name: str) -> tuple[int, Any]:
        """Number and content of a state, (0, None) before the first."""
        found = self.database.execute("SELECT number, content FROM state WHERE name = ?", (name,)).fetchone()
        return (0, None) if found is None else tuple(found)

    def overview(self) -> tuple[float, str, bool, int, int, dict[str, int]]:
        """Last sign of life, projector, whether the door is closed, phones and walls here, and each state's number.

        In one query: at each, a busy process lets another thread go first.
        """
        found = self.database.execute(_OVERVIEW, (json.dumps(self.running_processes()),)).fetchone()
        if found is None:
            raise sqlite3.DatabaseError("the room is not complete yet")
        alive, projector, is_closed, phones, walls, numbers = found
        pairs = (each.split() for each in (numbers or "").split(","))
        return (
            alive,
            projector,
            bool(is_closed),
            phones,
            walls,
            {name: int(number) for name, number in filter(None, pairs)},
        )

    def vote(self, votes: Iterable[Vote]) -> None:
        """Commit these votes, all in one; one that is older than its tab's own is left out."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            self.database.executemany(
                "INSERT INTO vote VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET number = excluded.number,"
                " taps = excluded.taps WHERE excluded.number > number",
                [(vote.question, vote.tab, vote.number, json.dumps(vote.taps)) for vote in votes],
            )
            self.touch()
            self.database.execute("COMMIT")
        except BaseException:
            self.database.execute("ROLLBACK")
            raise

    def count(self, question: int, n_words: int) -> Counts:
        """The votes on a question of so many words; of none: of a number."""
        sql = "SELECT taps, COUNT(*) FROM vote WHERE question = ? GROUP BY taps"
        rows = [(json.loads(taps), times) for taps, times in self.database.execute(sql, (question,))]
        votes = sum(times for _taps, times in rows)
        if not n_words:
            taps, labels = count_numbers([number for (number,), times in rows for _ in range(times)])
            return Counts(votes, taps, taps, labels)
        sums, weights = [0] * n_words, [0.0] * n_words
        for tapped, times in rows:
            for word in tapped:
                sums[word] += times
                weights[word] += times / len(tapped)
        return Counts(votes, tuple(sums), tuple(weights))

    def note_running(self, process: str) -> None:
        """Note a sign of life of a process, for all rooms: its file's time, which costs no commit."""
        path = self.path.parent / PROCESSES / process
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.touch()
        now = time.time()  # the clock that `running_processes` reads
        os.utime(path, (now, now))

    def running_processes(self) -> list[str]:
        """The processes with a current sign of life, in order."""
        signs = (self.path.parent / PROCESSES).glob("*")
        since = time.time() - CURRENT
        return sorted(sign.name for sign in signs if sign.stat().st_mtime > since)

    def note_here(self, process: str, phones: int, walls: int) -> None:
        """Note how many phones and walls a process has, which holds while it runs."""
        self.note_running(process)
        self.database.execute("INSERT OR REPLACE INTO here VALUES (?, ?, ?)", (process, phones, walls))

    def here(self, without: str = "") -> tuple[int, int]:
        """How many phones and walls are here, in all processes, or in all but one."""
        sql = "SELECT COALESCE(SUM(phones), 0), COALESCE(SUM(walls), 0) FROM here WHERE process IN"
        running = [process for process in self.running_processes() if process != without]
        sums = self.database.execute(f"{sql} (SELECT value FROM json_each(?))", (json.dumps(running),)).fetchone()
        return int(sums[0]), int(sums[1])

    def _value(self, query: str, *values: object) -> Any:
        found = self.database.execute(query, values).fetchone()
        if found is None:
            raise sqlite3.DatabaseError("the room is not complete yet")
        return found[0]


def remove_ended(folder: Path) -> None:
    """Remove the files of rooms that have ended, and of processes that ran before."""
    for path in folder.glob("*.room"):
        room = RoomFile.open(path.stem)
        if room is not None:
            room.close()
        elif path.exists() and path.stat().st_mtime < time.time() - LIFE:  # no room that can be read
            path.unlink(missing_ok=True)
    for sign in (folder / PROCESSES).glob("*"):
        if sign.stat().st_mtime < time.time() - LIFE:
            sign.unlink(missing_ok=True)


def parse_vote(message: dict[str, Any], tab: str, question: dict[str, Any]) -> Vote | None:
    """A phone's vote on an open question; None where it is none that the phone's page could send."""
    number, taps = message.get("number"), message.get("taps")
    most, n_words = question["most"], len(question["words"])
    if not isinstance(taps, list) or not 0 < len(taps) <= most or type(number) is not int or not 0 < number < 2**31:
        return None
    if not n_words:
        fits = type(taps[0]) in (int, float) and abs(taps[0]) <= LARGEST_NUMBER
        return Vote(question["id"], tab, number, (float(taps[0]),)) if fits else None
    if any(type(tap) is not int or not 0 <= tap < n_words or tap == question["query"] for tap in taps):
        return None
    return Vote(question["id"], tab, number, tuple(sorted(set(taps))))


def count_numbers(numbers: Sequence[float]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """How many numbers are in each range, and what the ranges are called; few different numbers are one each.

    The outermost ranges hold all that is farther out: one absurd number does not flatten the others.
    """
    values = sorted(set(numbers))
    if len(values) <= MOST_BARS:
        return tuple(numbers.count(value) for value in values), tuple(f"{value:.6g}" for value in values)
    numbers = sorted(numbers)
    low, high = numbers[len(numbers) // 20], numbers[-1 - len(numbers) // 20]
    edges = [float(f"{low + (high - low) * i / MOST_BARS:.3g}") for i in range(1, MOST_BARS)]
    edges = sorted(set(edges))
    ends = [bisect_right(numbers, edge) for edge in edges]
    counts = [end - start for start, end in zip([0, *ends], [*ends, len(numbers)], strict=True)]
    names = [f"{edge:.6g}" for edge in edges]
    between = [f"{a} – {b}" for a, b in pairwise(names)]
    return tuple(counts), (f"≤ {names[0]}", *between, f"> {names[-1]}")


def class_row(counts: Counts, query: int) -> tuple[float, ...]:
    """The class's row: its weights up to the query as shares that sum to 1, and nothing on later words."""
    before = sum(counts.weights[: query + 1])
    return tuple(weight / before if before and place <= query else 0.0 for place, weight in enumerate(counts.weights))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
