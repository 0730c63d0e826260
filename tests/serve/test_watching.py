"""What the metrics say: who is connected, how long answers took, and never what a visitor typed."""

import threading
from contextlib import suppress
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient

from attnviz.app.cache import model_cache
from attnviz.app.cache.waiting_line import WaitingLine
from attnviz.serve.watching import NUMBERS, Watching, metrics
from tests.waiting import until

SENTENCE = "my secret sentence"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def client(clock):
    async def run(socket):
        """Each text of the test is told what to send, and how much time passes before it."""
        await socket.accept()
        async for _message in socket.iter_bytes():
            answer, seconds = script.pop(0)
            clock.now += seconds
            await socket.send_bytes(answer)

    script: list[tuple[bytes, float]] = []
    routes = [WebSocketRoute("/stream", run), Route("/metrics", metrics)]
    made: Any = TestClient(Starlette(routes=routes, middleware=[Middleware(Watching, clock=clock)]))
    made.script = script
    return made


def read(client) -> dict[str, float]:
    """Every value by its name and labels."""
    text = client.get("/metrics").text
    assert SENTENCE not in text
    return {
        sample.name + "".join(f",{value}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def turn(client, socket, message: bytes, answer: bytes, seconds: float) -> None:
    client.script.append((answer, seconds))
    socket.send_bytes(message)
    socket.receive_bytes()


def test_the_metrics_say_what_caches_hold_and_how_many_passes_wait(client, monkeypatch):
    shared = model_cache.Shared()
    shared.line = WaitingLine(0, 9)
    monkeypatch.setattr(model_cache, "_SHARED", shared)
    for _ in range(3):
        shared.results.get("key", lambda: b"12345678")
    found = read(client)
    assert found["attnviz_cache_requests_total,results,yes"] == 2
    assert found["attnviz_cache_requests_total,results,no"] == 1
    assert found["attnviz_cache_bytes,results"] == shared.results.weight > 0
    assert found["attnviz_cache_limit_bytes,results"] == model_cache.limit("results")
    gone = threading.Event()

    def wait(_before):
        if gone.is_set():
            raise KeyboardInterrupt

    def come():
        with suppress(KeyboardInterrupt), shared.line.turn(wait):
            pytest.fail("there is no place")

    visitors = [threading.Thread(target=come, daemon=True) for _ in range(3)]
    for each in visitors:
        each.start()
    until(lambda: shared.line.waiting == 3)
    assert read(client)["attnviz_waiting_passes"] == 3
    gone.set()
    for each in visitors:
        each.join(10)
    assert read(client)["attnviz_waiting_passes"] == 0


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
