"""The web socket of a phone, or of a room's wall, and what may come through it.

The first message says who comes: a phone a random number of its tab, a wall the room's secret. No address, no browser
and no name is asked for, kept or logged.
"""

import asyncio
import json
import logging
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from attnviz.models import settings
from attnviz.rooms.live_rooms import LiveRoom, LiveRooms
from attnviz.rooms.room_file import parse_vote

log = logging.getLogger("attnviz.rooms")

PATIENCE = 10.0  #: seconds for the first message
LARGEST = 2_000  #: characters of a message
PACE, AHEAD = 4.0, 20.0  #: messages a second that a phone may send, and how many at once
TAB = re.compile(r"[0-9a-f]{16,32}")
#: why a connection is closed, for the script at its other end
ENDED, FULL, REFUSED, AGAIN = 4000, 4001, 1008, 1012

ROOMS = LiveRooms()


class Allowance:
    """So many in a second, and so many at once."""

    def __init__(self, pace: float, ahead: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.pace, self.ahead, self.clock = pace, ahead, clock
        self.left, self.at = ahead, clock()

    def has(self) -> bool:
        """Whether one more is allowed now."""
        now = self.clock()
        self.left, self.at = min(self.ahead, self.left + (now - self.at) * self.pace), now
        return self.left >= 1

    def take(self) -> bool:
        """Count one more; whether it is allowed."""
        allowed = self.has()
        self.left -= allowed
        return allowed


#: wrong codes, of all visitors together: a class has one address. In a room's life 144,000 of 3.2 million are tried
WRONG_CODES = Allowance(10.0, 100.0)


async def serve_room_socket(socket: WebSocket) -> None:
    """Connect a phone or a wall with its room until it leaves or the room ends. The origin is already checked."""
    await socket.accept()
    try:
        first = await asyncio.wait_for(_receive(socket), PATIENCE)
    except (TimeoutError, WebSocketDisconnect):
        first = None
    tab, secret = (str((first or {}).get(name, "")) for name in ("tab", "secret"))
    is_wall, code = bool(secret), socket.path_params["code"].upper()
    if first is None or not (is_wall or TAB.fullmatch(tab)):
        await _close(socket, REFUSED)
        return
    if not WRONG_CODES.has():
        await _close(socket, AGAIN)
        return
    if not is_wall and ROOMS.phones >= settings.current_settings().room_phones:
        await _close(socket, FULL)
        return
    room = ROOMS.enter(code, is_wall=is_wall)
    if room is None:
        WRONG_CODES.take()
        await _close(socket, ENDED)
        return
    try:
        if is_wall and not room.file.is_secret(secret):
            WRONG_CODES.take()
            await _close(socket, REFUSED)
            return
        await _converse(socket, room, tab, is_wall)
    finally:
        ROOMS.leave(room, is_wall=is_wall)


async def _converse(socket: WebSocket, room: LiveRoom, tab: str, is_wall: bool) -> None:
    """Send and receive at the same time, until one of the two ends."""
    sending = asyncio.create_task((_send_to_wall if is_wall else _send_to_phone)(socket, room))
    receiving = asyncio.create_task(_receive_votes(socket, room, tab))
    try:
        done, _others = await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            with suppress(WebSocketDisconnect, RuntimeError):
                await _close(socket, task.result())
    finally:
        for task in (sending, receiving):
            task.cancel()
        await asyncio.gather(sending, receiving, return_exceptions=True)


async def _send_to_phone(socket: WebSocket, room: LiveRoom) -> int:
    """Send each newest step and question; the code to close with once the room has ended."""
    step, question = 0, 0
    while not room.is_over:
        changed = room.changed
        if room.step[0] != step and room.step[1] is not None:
            step = room.step[0]
            await socket.send_bytes(room.step[1])
        if room.question[0] != question:
            question = room.question[0]
            await socket.send_json({"question": room.question[1]})
        if changed is room.changed:
            await changed.wait()
    return ENDED


async def _send_to_wall(socket: WebSocket, room: LiveRoom) -> int:
    """Send how many are here and the question with its counts, whenever one of them changes."""
    sent: dict[str, Any] = {}
    while not room.is_over:
        changed, message = room.changed, room.wall_message()
        if message != sent:
            sent = message
            await socket.send_json(message)
        if changed is room.changed:
            await changed.wait()
    return ENDED


async def _receive_votes(socket: WebSocket, room: LiveRoom, tab: str) -> int:
    """Commit what a phone votes, and say so; the code to close with where it sends what no page of ours sends."""
    allowance = Allowance(PACE, AHEAD)
    while True:
        message = await _receive(socket)
        if message is None or not tab or not allowance.take():
            return REFUSED
        asked = room.open_question
        vote = parse_vote(message, tab, asked) if asked and message.get("question") == asked["id"] else None
        if vote is None:
            await socket.send_json({"late": message.get("question") if type(message.get("question")) is int else 0})
            continue
        try:
            await room.vote(vote)
        except sqlite3.Error:
            log.exception("a vote could not be written")
            return AGAIN  # the phone comes back and votes once more
        await socket.send_json({"counted": vote.number})


async def _receive(socket: WebSocket) -> dict[str, Any] | None:
    """A message; None for one that is no small JSON object."""
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code", 1000))
    text = received.get("text")
    if not text or len(text) > LARGEST:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


async def _close(socket: WebSocket, code: int) -> None:
    with suppress(RuntimeError):  # it was closed meanwhile
        await socket.close(code)
