"""The web socket of a phone, of a room's wall, and of the lecturer's own window, and what may come through it.

The first message says who comes: a phone a random number of its tab, the others the room's secret. No address, no
browser and no name is asked for, kept or logged.
"""

import asyncio
import json
import logging
import re
import sqlite3
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from attnviz.models import settings
from attnviz.rooms.limits import WRONG_CODES, Allowance
from attnviz.rooms.live_rooms import LiveRoom, LiveRooms
from attnviz.rooms.room_file import parse_vote

log = logging.getLogger("attnviz.rooms")

PATIENCE = 10.0  #: seconds for the first message
LARGEST = 2_000  #: characters of a message
PACE, AHEAD = 4.0, 20.0  #: messages a second that a phone may send, and how many at once
TAB = re.compile(r"[0-9a-f]{16,32}")
#: why a connection is closed, for the script at its other end
ENDED, FULL, DOOR, REPLACED, REFUSED, AGAIN = 4000, 4001, 4002, 4003, 1008, 1012

ROOMS = LiveRooms()


async def serve_room_socket(socket: WebSocket) -> None:
    """Connect a phone, a wall or a lecturer's window with its room until it leaves or the room ends.

    The origin is already checked.
    """
    await socket.accept()
    try:
        first = await asyncio.wait_for(_receive(socket), PATIENCE) or {}
    except (TimeoutError, WebSocketDisconnect):
        first = {}
    tab, secret = (str(first.get(name, "")) for name in ("tab", "secret"))
    kind = "phone" if not secret else "wall" if "projector" in first else "window"
    if not (secret or TAB.fullmatch(tab)):
        await _close(socket, REFUSED)
    elif not WRONG_CODES.has():
        await _close(socket, AGAIN)
    elif kind == "phone" and ROOMS.phones() >= settings.current_settings().room_phones:
        await _close(socket, FULL)
    elif (room := ROOMS.enter(socket.path_params["code"].upper(), kind)) is None:
        WRONG_CODES.add()
        await _close(socket, ENDED)
    else:
        try:
            if secret and not room.file.is_secret(secret):
                WRONG_CODES.add()
                await _close(socket, REFUSED)
            elif kind == "phone" and room.file.is_closed() and first.get("seat") != room.file.seat(tab):
                await _close(socket, DOOR)
            else:
                await _converse(socket, room, kind, first)
        finally:
            ROOMS.leave(room, kind)


async def _converse(socket: WebSocket, room: LiveRoom, kind: str, first: dict[str, Any]) -> None:
    """Send and receive at the same time, until one of the two ends."""
    if kind == "phone":
        both = _send_to_phone(socket, room, first["tab"]), _receive_votes(socket, room, first["tab"])
    else:
        both = _send_to_lecturer(socket, room, first.get("projector")), _receive_from_lecturer(socket, room)
    tasks = [asyncio.create_task(each) for each in both]
    try:
        done, _others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            with suppress(WebSocketDisconnect, RuntimeError):
                await _close(socket, task.result())
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _send_to_phone(socket: WebSocket, room: LiveRoom, tab: str) -> int:
    """Send each newest step and question; the code to close with once the room has ended."""
    step, question = 0, 0
    await socket.send_json({"seat": room.file.seat(tab)})
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


async def _send_to_lecturer(socket: WebSocket, room: LiveRoom, projector: str | None) -> int:
    """Send what the wall, or without a projector's name the lecturer's window, shows, whenever it changes.

    The wall hears in addition what it is asked to do, and is closed when another page is the projector.
    """
    sent: dict[str, Any] = {}
    command = max((number for number, _content in room.file.commands(0)), default=0)
    while not room.is_over:
        changed, message = room.changed, room.presenter_message() if projector is None else room.wall_message()
        if projector is not None:
            if projector not in (room.projector, room.file.projector()):  # a new one may be known a moment later
                return REPLACED
            for number, content in room.file.commands(command):
                command = number
                await socket.send_json({"command": json.loads(content)})
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
        if message is None or not allowance.take():
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


async def _receive_from_lecturer(socket: WebSocket, room: LiveRoom) -> int:
    """Do what the lecturer asks for, or hand it to the projector's page; the code to close with for what is no message.

    A key that is held down ends nothing: what comes faster than hands is left out.
    """
    allowance = Allowance(PACE, AHEAD)
    while True:
        message = await _receive(socket)
        if message is None:
            return REFUSED
        if not allowance.take():
            continue
        if "closed" in message:
            room.file.close_door(message["closed"] is True)
        elif isinstance(message.get("command"), dict):
            room.file.command(json.dumps(message["command"]))
        elif "counts" in message:
            await socket.send_json({"counts": room.all_counts()})
        room.look_again()


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
