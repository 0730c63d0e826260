"""Phones and walls on real connections to a real server: who may come, what they hear, and what hostile ones reach."""

import asyncio
import contextlib
import json
import secrets
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
import websockets
from starlette.applications import Starlette
from starlette.middleware import Middleware
from websockets.asyncio.client import connect

from attnviz.base.packed import unpack_blob
from attnviz.rooms import live_rooms, phone_page, room_file, sockets
from attnviz.rooms.limits import WRONG_CODES, WrongCodes
from attnviz.rooms.live_rooms import LiveRooms
from attnviz.rooms.projector import Projector
from attnviz.rooms.room_file import RoomFile
from attnviz.serve.incoming import Incoming
from deploy.class_server import free_port

pytestmark = pytest.mark.anyio
WORDS = ["The", "cat", "sat", "it", "slept"]


@pytest.fixture
def anyio_backend():
    return "asyncio"


@contextlib.contextmanager
def running(port: int) -> Iterator[uvicorn.Server]:
    app = Starlette(routes=phone_page.room_routes(), middleware=[Middleware(Incoming)])
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def port(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNVIZ_ROOMS", str(tmp_path / "rooms"))
    monkeypatch.setattr(sockets, "ROOMS", LiveRooms())
    port = free_port()
    with running(port):
        yield port


@pytest.fixture
def room(port):
    return Projector.begin()


def ask(room: Projector, truth=None, id=7) -> None:
    question = {"id": id, "text": "", "words": WORDS, "query": 3, "most": 3, "truth": truth}
    assert room.write("question", json.dumps(question))


@contextlib.asynccontextmanager
async def joined(port, room, first=None, **options):
    async with connect(f"ws://127.0.0.1:{port}/r/{room.code}/socket", **options) as socket:
        await socket.send(json.dumps(first or {"tab": secrets.token_hex(16)}))
        yield socket


async def heard(socket, name, wanted=lambda value: True):
    """The next message with this name, whose value is as wanted."""
    async with asyncio.timeout(10):
        while True:
            message = await socket.recv()
            content = unpack_blob(message)[0] if isinstance(message, bytes) else json.loads(message)
            if name in content and wanted(content[name]):
                return content


async def closed(socket) -> int:
    async with asyncio.timeout(15):
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await socket.recv()
    return socket.close_code


async def test_votes_reach_the_wall_from_five_on_and_none_counts_after_the_answer(port, room):
    ask(room)
    async with contextlib.AsyncExitStack() as stack:
        wall = await stack.enter_async_context(joined(port, room, wall_of(room)))
        phones = [await stack.enter_async_context(joined(port, room)) for _ in range(6)]
        for n, phone in enumerate(phones, 1):
            await heard(phone, "question")
            await phone.send(json.dumps({"question": 7, "number": 1, "taps": [1, 4]}))
            assert (await heard(phone, "counted"))["counted"] == 1
            state = await heard(wall, "votes", lambda votes, n=n: votes == n)
            assert state["taps"] == (None if n < 5 else [0, n, 0, 0, n])
            assert state["weights"] == (None if n < 5 else [0, n / 2, 0, 0, n / 2])
        await phones[0].send(json.dumps({"question": 7, "number": 2, "taps": [0]}))
        state = await heard(wall, "taps", lambda taps: taps[0] == 1)
        assert state["votes"] == 6, "changed, not counted twice"
        assert state["here"] == 6 or await heard(wall, "here", lambda here: here == 6)
        ask(room, truth={"row": []})
        await heard(phones[1], "question", lambda question: question["truth"] is not None)
        await phones[1].send(json.dumps({"question": 7, "number": 9, "taps": [2]}))
        assert (await heard(phones[1], "late"))["late"] == 7
        ask(room, id=8)
        await heard(wall, "question", lambda question: question["id"] == 8)
        await phones[1].send(json.dumps({"question": 7, "number": 10, "taps": [2]}))
        await heard(phones[1], "late")


HOSTILE = {
    "no JSON": "{",
    "deep": "[" * 1900,
    "too long": json.dumps({"question": 7, "taps": [0], "more": "x" * 3000}),
    "bytes": b"\x00\x01",
    "another's secret": json.dumps({"secret": "guessed"}),
    "a tab that is none": json.dumps({"tab": "<script>"}),
}


@pytest.mark.parametrize("first", HOSTILE.values(), ids=HOSTILE.keys())
async def test_who_does_not_say_who_he_is_is_sent_away(port, room, first):
    async with connect(f"ws://127.0.0.1:{port}/r/{room.code}/socket") as socket:
        await socket.send(first)
        assert await closed(socket) == sockets.REFUSED
    async with joined(port, room, {"secret": room.secret}) as wall:
        assert (await heard(wall, "here"))["here"] == 0


@pytest.mark.parametrize(
    "message",
    [
        {"question": 7, "number": 1, "taps": [99]},
        {"question": [], "number": None},
        {"step": "mine", "title": "mine"},
    ],
)
async def test_what_no_page_of_ours_sends_counts_for_nothing_and_changes_nothing(port, room, message):
    ask(room)
    room.title = "The lecturer's"
    room.publish("explore")
    async with joined(port, room, {"secret": room.secret}) as wall, joined(port, room) as phone:
        await phone.send(json.dumps(message))
        await heard(phone, "late")
        state = await heard(wall, "here", lambda here: here == 1)
        assert state["votes"] == 0
        async with joined(port, room) as another:
            assert (await heard(another, "title"))["title"] == "The lecturer's"


async def test_who_sends_faster_than_hands_is_closed_and_nobody_else(port, room):
    ask(room)
    async with joined(port, room) as phone, joined(port, room) as fast:
        with contextlib.suppress(websockets.ConnectionClosed):
            for number in range(200):
                await fast.send(json.dumps({"question": 7, "number": number + 1, "taps": [0]}))
        assert await closed(fast) == sockets.REFUSED
        await phone.send(json.dumps({"question": 7, "number": 1, "taps": [0]}))
        assert await heard(phone, "counted")


async def test_a_page_of_another_origin_is_refused(port, room):
    with pytest.raises(websockets.InvalidStatus):
        async with joined(port, room, origin="https://elsewhere.example"):
            pass
    async with joined(port, room, {"secret": room.secret}, origin=f"http://127.0.0.1:{port}") as own:
        assert await heard(own, "here")


async def test_a_wrong_code_an_old_one_and_too_many_of_them_in_all_processes(port, room, monkeypatch):
    async with joined(port, room) as phone:
        room.end()
        assert await closed(phone) == sockets.ENDED
    async with joined(port, room) as phone:
        assert await closed(phone) == sockets.ENDED
    another_process = WrongCodes()
    for _ in range(100):
        another_process.add()
    async with joined(port, room) as phone:
        assert await closed(phone) == sockets.AGAIN
    now = time.monotonic()
    for later in (-3600, 11):  # a machine that was started anew, and ten seconds
        monkeypatch.setattr(WRONG_CODES, "clock", lambda later=later: now + later)
        async with joined(port, room) as phone:
            assert await closed(phone) == sockets.ENDED


async def test_a_full_server_takes_no_more_phones_and_still_a_wall(port, room, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_ROOM_PHONES", "2")
    async with joined(port, room, {"secret": room.secret}) as wall, joined(port, room), joined(port, room):
        await heard(wall, "here", lambda here: here == 2)
        async with joined(port, room) as third:
            assert await closed(third) == sockets.FULL
    with RoomFile.open(Projector.begin().code) as another:
        another.note_here("another process", 2, 0)
        await asyncio.sleep(1.1)
        async with joined(port, room) as first:
            assert await closed(first) == sockets.FULL


async def test_phones_of_a_killed_process_are_gone_from_the_wall_within_seconds_and_no_others(port, room, monkeypatch):
    monkeypatch.setattr(room_file, "CURRENT", 2.0)
    async with joined(port, room, wall_of(room)) as wall, joined(port, room):
        with RoomFile.open(room.code) as another:
            another.note_here("killed later", 2, 0)
        await heard(wall, "here", lambda here: here == 3)
        assert (await heard(wall, "here", lambda here: here != 3))["here"] == 1
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(room_file.CURRENT + 1):
                await heard(wall, "here", lambda here: here != 1)


async def test_a_closed_door_lets_in_who_was_here_and_nobody_else(port, room):
    tab = secrets.token_hex(16)
    async with joined(port, room, {"secret": room.secret}) as window:
        async with joined(port, room, {"tab": tab}) as phone:
            seat = (await heard(phone, "seat"))["seat"]
            await window.send(json.dumps({"closed": True}))
            await heard(window, "closed", lambda closed: closed)
        for first in ({"tab": secrets.token_hex(16)}, {"tab": secrets.token_hex(16), "seat": seat}):
            async with joined(port, room, first) as stranger:
                assert await closed(stranger) == sockets.DOOR
        async with joined(port, room, {"tab": tab, "seat": seat}) as phone:
            assert await heard(phone, "seat")
        await window.send(json.dumps({"closed": False}))
        await heard(window, "closed", lambda closed: not closed)
    async with joined(port, room) as phone:
        assert await heard(phone, "seat")


def wall_of(room):
    return {"secret": room.secret, "projector": room.name}


async def test_the_lecturers_window_moves_the_newest_projector_alone(port, room):
    second = Projector.resume(room.code, room.secret)
    async with (
        joined(port, room, {"secret": room.secret}) as window,
        joined(port, second, wall_of(second)) as wall,
        joined(port, room) as phone,
    ):
        async with joined(port, room, wall_of(room)) as old:
            assert await closed(old) == sockets.REPLACED
        await heard(window, "walls", lambda walls: walls == 1)
        await heard(wall, "here")
        for walk in ("next", "next", "previous"):
            await window.send(json.dumps({"command": {"walk": walk}}))
        assert [(await heard(wall, "command"))["command"]["walk"] for _ in range(3)] == ["next", "next", "previous"]
        third = Projector.resume(room.code, room.secret)
        async with joined(port, third, wall_of(third)) as newest:
            assert await closed(wall) == sockets.REPLACED
            await window.send(json.dumps({"command": {"walk": "next"}}))
            assert (await heard(newest, "command"))["command"] == {"walk": "next"}, "and none of those before"
        await phone.send(json.dumps({"command": {"walk": "next"}}))
        assert await heard(phone, "late")


async def test_notes_and_counts_reach_the_lecturers_window_alone(port, room):
    room.tell_lecturer({"notes": ["the secret of this step"]})
    ask(room)
    assert room.write("asked", json.dumps([{"id": 7, "words": WORDS}]))
    async with (
        joined(port, room, {"secret": room.secret}) as window,
        joined(port, room, wall_of(room)) as wall,
        joined(port, room) as phone,
    ):
        told = await heard(window, "lecturer", lambda lecturer: lecturer is not None)
        assert told["lecturer"]["notes"] == ["the secret of this step"]
        assert "lecturer" not in await heard(wall, "question")
        await heard(phone, "question")
        await phone.send(json.dumps({"question": 7, "number": 1, "taps": [1]}))
        await heard(phone, "counted")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await phone.recv()
        await window.send(json.dumps({"counts": True}))
        counts = (await heard(window, "counts"))["counts"]
        assert [(each["votes"], each["taps"]) for each in counts] == [(1, None)], "of fewer than five none is told"


@pytest.mark.parametrize("hours", [-10, 10])
async def test_a_clock_that_is_set_ends_no_class(port, room, monkeypatch, hours):
    async with joined(port, room, {"secret": room.secret}) as wall:
        await heard(wall, "here")
        now = time.time()
        monkeypatch.setattr("attnviz.rooms.live_rooms.time.time", lambda: now + hours * 3600)
        await asyncio.sleep(0.5)
        ask(room)
        assert await heard(wall, "question", lambda question: question is not None)


async def test_a_room_that_nobody_ends_is_removed_while_the_server_runs(port, room, monkeypatch, tmp_path):
    monkeypatch.setattr(live_rooms, "BETWEEN_REMOVALS", 0.05)
    removing = asyncio.create_task(live_rooms.remove_ended_rooms())
    await asyncio.sleep(0.3)
    assert list((tmp_path / "rooms").glob("*.room")), "a room that lives"
    now = time.time()
    monkeypatch.setattr("attnviz.rooms.room_file.time.time", lambda: now + room_file.LIFE + 1)
    async with asyncio.timeout(10):
        while list((tmp_path / "rooms").iterdir()):
            await asyncio.sleep(0.05)
    removing.cancel()
