"""Whom the metrics answer, and whom they count."""

import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient

from attnviz.serve.watching import NUMBERS, Watching, metrics


@pytest.mark.parametrize("root", ["", "/deep/base"])
@pytest.mark.parametrize("path", [*NUMBERS, f"{NUMBERS[1]}/"])
def test_numbers_are_for_programs_on_this_machine(path, root):
    def status(path: str, client: str, **headers: str) -> int:
        routes = [Route("/{any:path}", metrics)]
        app = Starlette(routes=routes, middleware=[Middleware(Watching)])
        return TestClient(app, client=(client, 4000)).get(root + path, headers=headers).status_code

    for here in ("127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"):
        assert status(path, here) == 200
        for forwarded in ("X-Forwarded-For", "X-Real-IP", "Forwarded"):
            assert status(path, here, **{forwarded: "127.0.0.1"}) == 403, "a proxy here asks for another"
    for elsewhere in ("192.0.2.7", "10.0.0.1", "2001:db8::7", "::ffff:192.0.2.7", ""):
        assert status(path, elsewhere) == 403
        assert status("/attnviz/health", elsewhere) == 200


def test_a_phone_in_a_room_is_no_visitor():
    async def stay(socket):
        await socket.accept()
        await socket.send_text("in")
        await socket.receive()

    paths = ("/r/BCDFG/socket", "/deep/base/r/BCDFG/socket", "/_stcore/stream", "/deep/base/_stcore/stream")
    routes = [*(WebSocketRoute(path, stay) for path in paths), Route("/metrics", metrics)]
    client = TestClient(Starlette(routes=routes, middleware=[Middleware(Watching)]))
    for path in paths:
        with client.websocket_connect(path) as socket:
            assert socket.receive_text() == "in"
            visitors = re.search(r"^attnviz_visitors (\S+)", client.get("/metrics").text, re.MULTILINE)[1]
            assert float(visitors) == ("stream" in path)
            socket.send_text("")
