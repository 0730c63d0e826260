"""The rooms of this process: who is connected, and what reaches them.

A process looks ten times a second whether another has changed a room's file, and then tells its own phones. Each
connection is sent the newest state when it can take it: a phone on a slow line skips steps and delays nobody.
"""

import asyncio
import json
import math
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict
from typing import Any

from attnviz.base.message import Problem
from attnviz.models import settings
from attnviz.rooms.room_file import FEWEST_SHOWN, LIFE, Counts, RoomFile, Vote, remove_ended

BETWEEN_LOOKS = 0.1  #: seconds
BETWEEN_SIGNS = 1.0  #: seconds between two signs of life of this process
BETWEEN_TOUCHES = 10.0  #: seconds between two of a room whose wall is here
BETWEEN_REMOVALS = 600.0  #: seconds
PROCESS = secrets.token_hex(8)
LEAP = 60.0  #: seconds by which the machine's clock was set, not late
GATHERED = 0.005  #: seconds in which votes are gathered for one commit


State = tuple[int, Any]  #: its number, and what it is


async def remove_ended_rooms() -> None:
    """Remove what is left of rooms that nobody is connected to any more; for as long as the server runs."""
    while True:
        with suppress(Problem, OSError, sqlite3.Error):
            if (folder := settings.current_settings().rooms) is not None:
                await asyncio.to_thread(remove_ended, folder)
        await asyncio.sleep(BETWEEN_REMOVALS)


class LiveRoom:
    """A room as this process knows it."""

    def __init__(self, file: RoomFile, clock: Callable[[], float] = time.monotonic) -> None:
        self.file, self.clock = file, clock
        self.connected: Counter[str] = Counter()  #: "phone", "wall" and "window", here
        self.step: State = (0, None)
        self.question: State = (0, None)
        self.lecturer: State = (0, None)  #: what his own window says of his page
        self.counts = Counts(0, (), ())
        self.here = self.walls_here = 0
        self.is_closed = False
        self.projector = ""
        self.is_over = False
        self.changed = asyncio.Event()  #: another for each change
        self._version = -1
        self._waiting: list[tuple[Vote, asyncio.Future[None]]] = []
        self._committing: asyncio.Task[None] | None = None
        self._noted, self._noted_at = (-1, -1), -math.inf
        self._signed_at = self._touched_at = -math.inf
        self._running: list[str] = []  #: processes with a sign of life
        self._alive, self._alive_at = 0.0, clock()
        self._offset = time.time() - clock()
        self._lock = asyncio.Lock()  #: of the file, which a thread may be writing
        self.refresh()

    def refresh(self) -> None:
        """Read what has changed, and wake whoever waits for it."""
        alive, self.projector, self.is_closed, self.here, self.walls_here, numbers = self.file.overview()
        for name, read in (("step", bytes), ("question", json.loads), ("lecturer", json.loads)):
            if numbers.get(name, 0) != getattr(self, name)[0]:
                number, content = self.file.read(name)
                setattr(self, name, (number, read(content)))
        if (asked := self.question[1]) is not None:
            self.counts = self.file.count(asked["id"], len(asked["words"]))
        if alive != self._alive:
            self._alive, self._alive_at = alive, self.clock()
        self.wake()

    def wake(self) -> None:
        """Let every connection look."""
        self.changed.set()
        self.changed = asyncio.Event()

    async def watch(self) -> None:
        """Look for changes until the room ends or nobody is connected here."""
        while any(self.connected.values()):
            async with self._lock:
                if not await self._look():
                    return
            await asyncio.sleep(BETWEEN_LOOKS)

    async def _look(self) -> bool:
        """Look once; whether the room goes on."""
        try:
            now = self.clock()
            was_set = abs(time.time() - now - self._offset) > LEAP
            if was_set:
                self._offset = time.time() - now
            if was_set or now - self._signed_at > BETWEEN_SIGNS:
                self._signed_at = now
                self._look_at_processes()
            here = self.connected["phone"], self.connected["wall"]
            if here != self._noted and now - self._noted_at > 2 * BETWEEN_LOOKS:
                self._noted_at = now
                self.file.note_here(PROCESS, *here)
                self._noted = here
                self.look_again()
            has_wall = here[1] > 0 and now - self._touched_at > BETWEEN_TOUCHES
            if has_wall or (was_set and now - self._alive_at < LIFE):
                self._touched_at = now
                self.file.touch()  # a wall that shows it is a sign of life; a new clock must know of the last one
                self.look_again()
            if (version := self.file.version()) != self._version:
                self._version = version
                self.refresh()
            # by both clocks: neither a clock that was set nor a machine that slept ends a class
            quiet = min(now - self._alive_at, time.time() - self._alive)
            self.is_over = quiet > LIFE or not self.file.path.exists()
        except (sqlite3.Error, OSError):
            self.is_over = not self.file.path.exists()
        if self.is_over:
            self.wake()
        return not self.is_over

    def _look_at_processes(self) -> None:
        """Give a sign of life; count anew where another process's has come or is missing."""
        self.file.note_running(PROCESS)
        if (running := self.file.running_processes()) != self._running:
            self._running = running
            self.look_again()

    async def vote(self, vote: Vote) -> None:
        """Commit a vote, with others of the same moment; answers when it is on the disk."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((vote, done))
        if self._committing is None or self._committing.done():
            self._committing = asyncio.create_task(self._commit())
        await done

    async def _commit(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHERED)
            votes, self._waiting = self._waiting, []
            try:
                async with self._lock:
                    await asyncio.to_thread(self.file.vote, [vote for vote, _done in votes])
                    self.look_again()
            except sqlite3.Error as error:
                for done in (done for _vote, done in votes if not done.cancelled()):
                    done.set_exception(error)
            else:
                for done in (done for _vote, done in votes if not done.cancelled()):
                    done.set_result(None)

    def look_again(self) -> None:
        """Have the next look read the file: its version does not count the changes of its own connection."""
        self._version = -1

    @property
    def open_question(self) -> dict[str, Any] | None:
        """The question that can be voted on."""
        asked: dict[str, Any] | None = self.question[1]
        return asked if asked is not None and asked.get("truth") is None else None

    def wall_message(self) -> dict[str, Any]:
        """What the wall shows besides the lecturer's page."""
        state = {"here": self.here, "question": self.question[1], "closed": self.is_closed}
        return state | shown_counts(self.counts)

    def presenter_message(self) -> dict[str, Any]:
        """What the lecturer's own window shows."""
        return self.wall_message() | {"walls": self.walls_here, "lecturer": self.lecturer[1]}

    def all_counts(self) -> list[dict[str, Any]]:
        """Every question of this hour with its votes."""
        asked = json.loads(self.file.read("asked")[1] or "[]")
        return [each | shown_counts(self.file.count(each["id"], len(each["words"]))) for each in asked]


def shown_counts(counts: Counts) -> dict[str, Any]:
    """Number of votes, and from five on what they are: of fewer, a single vote could be recognised."""
    if counts.votes < FEWEST_SHOWN:
        return {"votes": counts.votes, "taps": None, "weights": None, "labels": []}
    return asdict(counts)


class LiveRooms:
    """All rooms with somebody connected to this process."""

    def __init__(self) -> None:
        self.rooms: dict[str, LiveRoom] = {}
        self._watching: set[asyncio.Task[None]] = set()
        self._elsewhere, self._counted_at = 0, -math.inf

    def phones(self) -> int:
        """How many phones the whole server has: those of other processes as they were at most a second ago."""
        now = time.monotonic()
        folder = settings.current_settings().rooms
        if now - self._counted_at > 1 and folder is not None:
            self._elsewhere, self._counted_at = 0, now
            for path in folder.glob("*.room"):
                with suppress(sqlite3.Error, OSError), closing(RoomFile(path)) as room:
                    self._elsewhere += room.here(without=PROCESS)[0]
        return self._elsewhere + sum(room.connected["phone"] for room in self.rooms.values())

    def enter(self, code: str, kind: str) -> LiveRoom | None:
        """The room of a code, with one more connected of a kind; None where there is none. `leave` it later."""
        room = self.rooms.get(code)
        begins = room is None
        if room is None:
            file = RoomFile.open(code)
            if file is None:
                return None
            room = self.rooms[code] = LiveRoom(file)
        room.connected[kind] += 1
        if begins:
            task = asyncio.create_task(self._watch(room))
            self._watching.add(task)
            task.add_done_callback(self._watching.discard)
        return room

    def leave(self, room: LiveRoom, kind: str) -> None:
        """One less is connected."""
        room.connected[kind] -= 1

    async def _watch(self, room: LiveRoom) -> None:
        try:
            await room.watch()
        finally:
            if self.rooms.get(room.file.code) is room:
                del self.rooms[room.file.code]
            with suppress(sqlite3.Error, OSError):
                if room.is_over:
                    room.file.end()
                else:
                    room.file.note_here(PROCESS, 0, 0)
            room.file.close()
