"""The front end's files come from memory after the first time, are the same bytes, and nothing else is kept."""

from __future__ import annotations

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.app.mends.streamlit_adapter import CHART_DRAWN, FRONTEND
from attnviz.serve import kept_files
from attnviz.serve.charts_script import IN_TURN, with_turns
from attnviz.serve.kept_files import KeptFiles
from attnviz.serve.plotly_parts import drawn_with

SCRIPT = max((FRONTEND / "static" / "js").glob("index*.js"), key=lambda path: path.stat().st_size)
SMALL_FIRST = sorted((FRONTEND / "static" / "js").glob("*.js"), key=lambda path: path.stat().st_size)
TINY, BROKEN = SMALL_FIRST[:2]
CHART = next((FRONTEND / "static" / "js").glob("PlotlyChart.*.js"))
FONT = next((FRONTEND / "static" / "media").glob("*.woff2"))


class Server:
    """A stand-in for Streamlit that counts what it is asked."""

    def __init__(self, base: str = "") -> None:
        self.asked: list[str] = []
        routes = [
            Route(f"{base}/static/js/{SCRIPT.name}", self.file(SCRIPT)),
            Route(f"{base}/static/media/{FONT.name}", self.file(FONT)),
            Route(f"{base}/static/js/{CHART.name}", self.file(CHART)),
            Route(f"{base}/static/js/{TINY.name}", self.file(TINY)),
            Route(f"{base}/static/js/{BROKEN.name}", self.text("no", 500)),
            Route(f"{base}/static/js//{SCRIPT.name}", self.file(SCRIPT)),
            Route(f"{base}/elsewhere/static/app.js", self.text("elsewhere")),
        ]
        self.client = TestClient(Starlette(routes=routes, middleware=[Middleware(KeptFiles, base_path=base)]))

    def file(self, path):
        def answer(request) -> Response:
            self.asked.append(request.url.path)
            return FileResponse(path, headers={"Cache-Control": "public, immutable"})

        return answer

    def text(self, body, status=200):
        def answer(request) -> Response:
            self.asked.append(request.url.path)
            return PlainTextResponse(body, status)

        return answer


@pytest.mark.parametrize("base", ["", "/demo"])
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_a_file_is_asked_for_once_and_stays_the_same(base, encoding):
    server = Server(base)
    answers = [
        server.client.get(f"{base}/static/js/{SCRIPT.name}", headers={"Accept-Encoding": encoding}) for _ in range(3)
    ]
    assert all(answer.content == SCRIPT.read_bytes() for answer in answers)
    assert len(server.asked) == 1
    assert len({tuple(sorted(answer.headers.items())) for answer in answers}) == 1
    assert answers[0].headers["cache-control"] == "public, immutable"
    assert answers[0].headers.get("content-encoding") == ("gzip" if encoding == "gzip" else None)


def test_what_is_sent_compressed_is_as_long_as_it_says():
    server = Server()
    with server.client.stream("GET", f"/static/js/{SCRIPT.name}", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert len(raw) == int(answer.headers["content-length"]) < 0.5 * SCRIPT.stat().st_size
    assert gzip.decompress(raw) == SCRIPT.read_bytes()
    assert "accept-encoding" in answer.headers["vary"].lower(), "a proxy must not give it to who cannot read it"


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_plotlys_script_begins_with_a_comment_asks_for_its_turn_and_is_else_what_our_charts_need(encoding):
    answer = Server().client.get(f"/static/js/{CHART.name}", headers={"Accept-Encoding": encoding})
    first, rest = answer.content.split(b"\n", 1)
    assert first == b"//# allFunctionsCalledOnLoad", "as browsers know it, on a line of its own before all code"
    before, after = rest.split(IN_TURN)
    assert before + after == drawn_with(CHART.read_bytes())
    assert (before + after).count(CHART_DRAWN) == 1
    assert (before[-len(CHART_DRAWN) :] + after[: len(CHART_DRAWN)]).count(CHART_DRAWN) == 1, "where a chart is drawn"
    if encoding == "identity":
        assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize("body", [b"another script", CHART_DRAWN + b"; " + CHART_DRAWN])
def test_a_script_that_draws_elsewhere_stays_as_it_is(body):
    assert with_turns(body) == body


def test_fonts_and_small_files_are_not_compressed_again():
    server = Server()
    font = server.client.get(f"/static/media/{FONT.name}", headers={"Accept-Encoding": "gzip"})
    assert font.content == FONT.read_bytes()
    assert "content-encoding" not in font.headers
    tiny = server.client.get(f"/static/js/{TINY.name}", headers={"Accept-Encoding": "gzip"})
    assert tiny.content == TINY.read_bytes()
    assert "content-encoding" not in tiny.headers


@pytest.mark.parametrize(
    "path, headers",
    [
        (f"/static/js/{BROKEN.name}", {}),
        (f"/static/js//{SCRIPT.name}", {}),
        ("/elsewhere/static/app.js", {}),
        (f"/static/js/{SCRIPT.name}", {"Range": "bytes=0-9"}),
        ("/static/nowhere.js", {}),
    ],
)
def test_errors_parts_and_other_places_are_not_kept(path, headers):
    server = Server()
    first, second = (server.client.get(path, headers=headers) for _ in range(2))
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert len(server.asked) in (0, 2), "asked each time, or not there at all"
    assert first.status_code == {f"/static/js/{BROKEN.name}": 500, "/static/nowhere.js": 404}.get(
        path, first.status_code
    )
    if "Range" in headers:
        assert first.status_code == 206
        assert len(first.content) == 10


def test_what_is_prepared_is_not_compressed_again_and_is_the_same(monkeypatch):
    monkeypatch.setattr(kept_files, "_SMALLER", {})
    kept_files.prepare()
    known = len(kept_files._SMALLER)
    assert known > 100
    monkeypatch.setattr(kept_files.gzip, "compress", lambda *_, **__: pytest.fail("compressed once more"))
    for script in (SCRIPT, CHART):
        answer = Server().client.get(f"/static/js/{script.name}", headers={"Accept-Encoding": "gzip"})
        content = drawn_with(script.read_bytes())
        assert answer.content.replace(IN_TURN, b"").endswith(content)
        assert answer.headers["content-encoding"] == "gzip"
    assert len(kept_files._SMALLER) == known


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_a_visitor_who_leaves_at_once_leaves_no_empty_file_to_all_others(encoding):
    """A page that was closed while the server began left scripts of no bytes to everybody after it."""

    async def as_streamlit_does(scope, receive, send) -> None:
        """Begin, and send the rest to who is still there."""
        there = (await receive())["type"] != "http.disconnect"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": SCRIPT.read_bytes() if there else b""})

    async def gone():
        return {"type": "http.disconnect"}

    async def nowhere(message) -> None:
        pass

    files = KeptFiles(as_streamlit_does)
    path = f"/static/js/{SCRIPT.name}"
    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"accept-encoding", encoding.encode())]}
    with ThreadPoolExecutor(1) as elsewhere:  # a browser test before this one leaves an event loop running here
        elsewhere.submit(lambda: asyncio.run(files(scope, gone, nowhere))).result()
    next_visitor = TestClient(files).get(path, headers={"Accept-Encoding": encoding})
    assert next_visitor.content == SCRIPT.read_bytes()
