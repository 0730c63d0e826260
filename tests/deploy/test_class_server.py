"""What nginx answers by itself, and how soon an old process is gone. The processes of the app are stand-ins."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz.app.show import PLOTLY_ROUTE
from attnviz.serve import index_page
from attnviz.serve.compressed_files import STATIC
from attnviz.serve.watching import NUMBERS
from deploy.class_server import GUARDS, ClassServer, Worker, free_port
from tests.waiting import until

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
needs_nginx = pytest.mark.skipif(
    NGINX is None and not os.environ.get("CI"), reason="NO NGINX on this machine: serving a class is NOT checked"
)
#: It has one visitor, says its headers as the app does, and does not end when it is asked to. Where it is silent it
#: takes connections and answers none.
STAND_IN = """
import http.server, json, os, signal, socket, sys, time
port, silent, headers = int(sys.argv[1]), sys.argv[2] == "silent", json.loads(sys.argv[3])
signal.signal(signal.SIGTERM, signal.SIG_IGN)

class Answers(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        Answers.asked += 1
        body = b"attnviz_visitors 1.0\\n" if self.path.endswith("metrics") else b"ok"
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Asked", f"{os.getpid()} {Answers.asked}")
        self.send_header("X-Seen-Forwarded", str(self.headers.get("X-Forwarded-For")))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

if silent:
    listening = socket.create_server(("127.0.0.1", port))
    time.sleep(600)
http.server.ThreadingHTTPServer(("127.0.0.1", port), Answers).serve_forever()
"""


def stand_in(port: int = 0, manner: str = "answers") -> Worker:
    port = port or free_port()
    said = json.dumps(index_page.headers(True))
    worker = Worker(port, subprocess.Popen([sys.executable, "-c", STAND_IN, str(port), manner, said]))
    until(lambda: taken(port))
    return worker


def taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("manner", ["answers", "silent"])
def test_an_old_process_that_does_not_end_is_gone_with_its_grace(tmp_path: Path, manner: str):
    server = ClassServer(1, "127.0.0.1:0", tmp_path, grace=1.0)
    old = stand_in(manner=manner)
    began = time.monotonic()
    leaving = threading.Thread(target=server._let_go, args=(old,), daemon=True)
    leaving.start()
    try:
        old.process.wait(20)
        assert time.monotonic() - began < 1.5
        if manner == "answers":
            assert time.monotonic() - began > 0.7, "its visitor had his time"
    finally:
        old.process.kill()
        leaving.join(10)


def test_the_end_of_the_server_is_the_end_of_old_processes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("deploy.class_server.ENDS_WITHIN", 0.5)
    monkeypatch.setattr(ClassServer, "_new_worker", lambda _self, port=0: stand_in(port))
    server = ClassServer(2, "127.0.0.1:0", tmp_path)
    server.workers = [server._new_worker() for _ in range(2)]
    first = list(server.workers)
    server.replace_all()
    every = [worker.process for worker in (*first, *server.workers)]
    assert len(every) == 4
    try:
        began = time.monotonic()
        server.stop()
        assert [process.poll() for process in every].count(None) == 0
        assert time.monotonic() - began < 4
    finally:
        for process in every:
            process.kill()


@pytest.fixture(scope="module")
def served() -> Iterator[ClassServer]:
    folder = Path(tempfile.mkdtemp())  # not pytest's: nginx, started by root, reads its files as nobody
    server = ClassServer(1, f"127.0.0.1:{free_port()}", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deploy.class_server.ENDS_WITHIN", 0.5)
        patch.setattr(ClassServer, "_new_worker", lambda _self, port=0: stand_in(port))
        server.start()
        yield server
        server.stop()
    shutil.rmtree(folder)


def asked(server: ClassServer, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    host, port = server.listen.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    connection.request(method, path, headers=headers)
    return connection.getresponse()


def raw(server: ClassServer, request: bytes) -> http.client.HTTPResponse:
    host, port = server.listen.split(":")
    connected = socket.create_connection((host, int(port)), 20)
    connected.sendall(request)
    answer = http.client.HTTPResponse(connected)
    answer.begin()
    return answer


def guarded(answer: http.client.HTTPResponse) -> None:
    for name, value in index_page.headers(True).items():
        assert answer.headers.get_all(name) == [value], f"{answer.status}: {name}"


@needs_nginx
def test_every_answer_carries_the_headers_of_the_app_once_nginxs_own_too(served: ClassServer):
    assert set(GUARDS) == set(index_page.headers(True))
    script = max((STATIC / "js").glob("index*.js")).name
    cases = {
        200: asked(served, "/"),
        301: asked(served, "/static/js"),
        404: asked(served, "/static/js/nothing.js"),
        400: raw(served, b"GET / HTTP/1.1\r\n\r\n"),
        405: raw(served, b"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"),
        413: raw(served, b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"),
        414: raw(served, b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"),
        505: raw(served, b"GET / HTTP/9.0\r\nHost: a\r\n\r\n"),
    }
    for status, answer in cases.items():
        assert answer.status == status
        guarded(answer)
    guarded(asked(served, f"/static/js/{script}"))
    header = raw(served, b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 40_000 + b"\r\n\r\n")
    assert header.status == 400
    guarded(header)


@needs_nginx
@pytest.mark.parametrize("path", NUMBERS)
def test_the_numbers_are_passed_on_as_they_were_asked_for(served: ClassServer, path: str):
    """The app decides by what stands before it: nginx's own mark would make a stranger of this machine."""
    assert asked(served, path).headers["X-Seen-Forwarded"] == "None"
    assert asked(served, path, **{"X-Forwarded-For": "192.0.2.7"}).headers["X-Seen-Forwarded"] == "192.0.2.7"
    assert asked(served, "/explore").headers["X-Seen-Forwarded"] == "127.0.0.1"


@needs_nginx
@pytest.mark.parametrize(
    "path",
    [
        f"/{index_page.EARLY_ROUTE}",
        f"/{index_page.PREVIEW_ROUTE}",
        f"/{PLOTLY_ROUTE}",
        "/favicon.png",
        "/_stcore/host-config",
        "/_stcore/bidi-components/attnviz.head/head.js",
    ],
)
def test_a_file_that_is_alike_for_all_is_asked_for_once_until_there_are_new_processes(served: ClassServer, path: str):
    def of_two() -> list[http.client.HTTPResponse]:
        return [asked(served, path, Cookie=f"attnviz_class={name}") for name in ("one", "other")]

    # nginx itself may have been started anew by the test before, and its old process answers a moment longer
    until(lambda: len({answer.headers["X-Asked"] for answer in of_two()}) == 1, 8)
    for answer in of_two():
        guarded(answer)
        assert answer.headers["Cache-Control"] == "no-cache", "what a browser may keep is for the app to say"
    first = asked(served, path).headers["X-Asked"]
    served.replace_all()
    until(lambda: asked(served, path).headers["X-Asked"].split()[0] != first.split()[0], 8)


@needs_nginx
@pytest.mark.parametrize("path", ["/", "/explore", "/_stcore/health", "/attnviz/health", "/attnviz/heads/token"])
def test_what_is_a_visitors_own_is_asked_for_each_time(served: ClassServer, path: str):
    assert asked(served, path).headers["X-Asked"] != asked(served, path).headers["X-Asked"]


@needs_nginx
def test_where_no_process_answers_the_error_carries_the_headers(served: ClassServer):
    served.workers[0].process.kill()
    served.workers[0].process.wait()
    until(lambda: asked(served, "/").status == 502, 8)  # an old process of nginx answers a moment longer
    guarded(asked(served, "/"))
