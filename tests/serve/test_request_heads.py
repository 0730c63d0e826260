"""Requests whose head never ends, and those that are long for a good reason, against uvicorn itself."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from websockets.sync.client import connect

from attnviz.serve import request_heads

PIECE = 64_000


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server with the bound, and one second for a head."""
    for name in ("connection_made", "on_message_begin", "on_headers_complete", "data_received"):
        monkeypatch.setattr(HttpToolsProtocol, name, getattr(HttpToolsProtocol, name))
    monkeypatch.setattr(request_heads, "SECONDS", 1.0)
    request_heads.bound_request_heads()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, ws="websockets-sansio", http="httptools", log_level="critical"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers how many bytes a body has, and what a web socket is told."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
    elif scope["type"] == "http":
        size, more = 0, True
        while more:
            message = await receive()
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
        await send({"type": "http.response.body", "body": b"%9d" % size})
    await asyncio.sleep(0)


@pytest.mark.parametrize("begin, piece", [(b"GET /", b"x"), (b"GET / HTTP/1.1\r\nX: ", b"x"), (b"GET /", b"x: y\r\n")])
def test_a_head_that_never_ends_is_cut_off(port: int, begin: bytes, piece: bytes):
    taken = 0
    with socket.create_connection(("127.0.0.1", port), 20) as visitor, suppress(OSError):
        visitor.sendall(begin + (b" HTTP/1.1\r\n" if piece != b"x" else b""))
        while taken < 50_000_000:
            taken += visitor.send(piece * (PIECE // len(piece)))
    assert taken < 15_000_000, "what the system's own buffers take"


@pytest.mark.parametrize("said", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_who_says_nothing_or_stops_half_way_is_not_waited_for(port: int, said: bytes):
    with socket.create_connection(("127.0.0.1", port), 20) as visitor:
        visitor.sendall(said)
        begun = time.monotonic()
        with suppress(ConnectionError):
            assert visitor.recv(100) == b""
        assert 0.5 < time.monotonic() - begun < 10


def test_a_second_request_has_its_own_time_and_a_slow_body_takes_as_long_as_it_does(port: int):
    with socket.create_connection(("127.0.0.1", port), 20) as visitor:
        for _ in range(3):
            visitor.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b" 200 " in visitor.recv(1000)
            time.sleep(0.6)
        visitor.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n" + bytes(4_000_000))
        time.sleep(1.5)
        visitor.sendall(bytes(4_000_000))
        assert b"  8000000" in visitor.recv(1000)


def test_a_web_socket_stays(port: int):
    with connect(f"ws://127.0.0.1:{port}/") as visitor:
        time.sleep(1.5)
        visitor.send("here")
        assert visitor.recv() == "here"
