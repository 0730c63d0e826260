"""What nginx answers by itself, how soon an old process is gone, and what comes back when one is killed.

The processes of the app are stand-ins.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from attnviz.app.show import PLOTLY_ROUTE
from attnviz.serve import index_page
from attnviz.serve.compressed_files import STATIC
from attnviz.serve.watching import NUMBERS
from deploy import class_server
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
        held = 10**15 if sys.argv[2] == "full" else 10**6
        numbers = f"attnviz_visitors 1.0\\nattnviz_own_memory_bytes {held}\\n".encode()
        body = numbers if self.path.endswith("metrics") else b"ok"
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Asked", f"{os.getpid()} {Answers.asked}")
        self.send_header("X-Seen-Forwarded", str(self.headers.get("X-Forwarded-For")))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        self.rfile.read(1_000_000)
        self.send_error(501)

    def log_message(self, *_):
        pass

if silent:
    listening = socket.create_server(("127.0.0.1", port))
    time.sleep(600)
http.server.ThreadingHTTPServer(("127.0.0.1", port), Answers).serve_forever()
"""


def command(port: int, manner: str = "answers") -> list[str]:
    return [sys.executable, "-c", STAND_IN, str(port), manner, json.dumps(index_page.headers())]


def stand_in(port: int = 0, manner: str = "answers") -> Worker:
    port = port or free_port()
    worker = Worker(port, subprocess.Popen(command(port, manner)))
    until(lambda: taken(port))
    return worker


def taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def served() -> Iterator[ClassServer]:
    folder = Path(tempfile.mkdtemp())  # not pytest's: nginx, started by root, reads its files as nobody
    server = ClassServer(1, f"127.0.0.1:{free_port()}", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deploy.class_server.ENDS_WITHIN", 0.5)
        patch.setattr(ClassServer, "_command", lambda _self, port: command(port))
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
    for name, value in index_page.headers().items():
        assert answer.headers.get_all(name) == [value], f"{answer.status}: {name}"


@needs_nginx
def test_every_answer_carries_the_headers_of_the_app_once_nginxs_own_too(served: ClassServer):
    assert set(GUARDS) == set(index_page.headers())
    script = max((STATIC / "js").glob("index*.js")).name
    cases = {
        200: asked(served, "/"),
        301: asked(served, "/static/js"),
        404: asked(served, "/static/js/nothing.js"),
        400: raw(served, b"GET / HTTP/1.1\r\n\r\n"),
        405: raw(served, b"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"),
        413: raw(served, b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"),
        414: raw(served, b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"),
        505: raw(served, b"GET / HTTP/9.0\r\nHost: a\r\n\r\n"),
    }
    for status, answer in cases.items():
        assert answer.status == status
        guarded(answer)
    assert cases[414].read() == b"This link is too long to be opened."
    assert raw(served, b"GET /?" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n").status == 200, "the app's"
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
def test_an_upload_is_passed_on_as_it_comes_and_no_part_of_it_is_a_file(served: ClassServer):
    """Of half of it the app hears, and may refuse it: here it can do nothing else."""
    half = b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n" + bytes(1_000_000)
    assert raw(served, half).status == 501
    assert not [path for path in (served.folder / "body").rglob("*") if path.is_file()]


@needs_nginx
def test_where_no_process_answers_the_error_carries_the_headers(served: ClassServer):
    served.workers[0].process.kill()
    served.workers[0].process.wait()
    until(lambda: asked(served, "/").status == 502, 8)  # an old process of nginx answers a moment longer
    guarded(asked(served, "/"))


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClassServer]:
    """Two stand-ins behind nginx, looked after."""
    folder = Path(tempfile.mkdtemp())
    monkeypatch.setattr(class_server, "ENDS_WITHIN", 0.5)
    monkeypatch.setattr(class_server, "LOOK", 0.2)
    monkeypatch.setattr(ClassServer, "_command", lambda _self, port: command(port))
    server = ClassServer(2, f"127.0.0.1:{free_port()}", folder, grace=1)
    server.start()
    watching = threading.Thread(target=server.watch)
    watching.start()
    yield server
    server.stopped.set()
    watching.join(60)
    server.stop()
    shutil.rmtree(folder)


def answers(server: ClassServer) -> bool:
    try:
        return asked(server, "/").status == 200
    except OSError:
        return False


@needs_nginx
def test_a_process_that_was_killed_is_back_nginx_and_all_of_the_app_at_once_too(watched: ClassServer):
    first = watched.nginx
    others = psutil.Process(first.pid).children()
    first.kill()
    until(lambda: watched.nginx is not first and answers(watched), 20)
    assert not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in others)
    psutil.Process(watched.nginx.pid).children()[0].kill()
    until(lambda: answers(watched), 20)
    lost = list(watched.workers)
    for worker in lost:
        worker.process.kill()
    began = time.monotonic()
    until(lambda: not set(map(id, lost)) & set(map(id, watched.workers)), 20)
    assert time.monotonic() - began < 5, "none waits for another's start"
    until(lambda: all(worker.healthy() for worker in watched.workers) and answers(watched), 20)


@needs_nginx
def test_a_process_that_has_reached_its_memory_is_renewed(watched: ClassServer, monkeypatch: pytest.MonkeyPatch):
    kept, full = watched.workers[1], stand_in(manner="full")
    full.answered = True
    replaced, watched.workers[0] = watched.workers[0], full
    try:
        until(lambda: watched.workers[0] is not full, 20)
        assert watched.workers[0].healthy()
        assert watched.workers[1] is kept
        full.process.wait(20)
    finally:
        replaced.process.kill()
        full.process.kill()


def test_memory_that_is_taken_for_a_moment_ends_nobodys_visit(monkeypatch: pytest.MonkeyPatch):
    held = iter([9, 9, 1, 9, 9, 9])
    monkeypatch.setattr(Worker, "counted", lambda _self, _name: next(held))
    worker = Worker(0, None)
    assert [worker.is_full(5) for _ in range(6)] == [False] * 5 + [True]


#: The server itself, with stand-ins for the app.
DRIVEN = """
import sys
from deploy import class_server
from tests.deploy.test_class_server import command
class_server.ENDS_WITHIN = 0.5
class_server.ClassServer._command = lambda _self, port: command(port)
class_server.main(["--processes", "2", "--listen", sys.argv[1]])
"""


@needs_nginx
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends children with their parent")
@pytest.mark.parametrize("nginx_too", [False, True])
def test_when_the_server_is_killed_nothing_of_it_stays_and_it_can_be_started_again(nginx_too: bool):
    there = Path(tempfile.mkdtemp())
    there.chmod(0o711)
    listen, environment = f"127.0.0.1:{free_port()}", os.environ | {"TMPDIR": str(there), "ATTNVIZ_LOG": "text"}

    def started() -> subprocess.Popen[str]:
        made = subprocess.Popen(
            [sys.executable, "-c", DRIVEN, listen], env=environment, stderr=subprocess.PIPE, text=True
        )
        said = next(line for line in made.stderr if "processes at" in line or "Error" in line)
        assert f"2 processes at http://{listen}" in said
        return made

    try:
        first = started()
        family = psutil.Process(first.pid).children(recursive=True)
        assert len(family) >= 4, "two of the app, nginx and what it starts"
        [folder] = there.iterdir()
        if nginx_too:
            os.kill(int((folder / "nginx.pid").read_text()), signal.SIGKILL)
        first.kill()
        _gone, left = psutil.wait_procs(family, 3 if nginx_too else 20)
        assert {each.name() for each in left} <= ({"nginx"} if nginx_too else set())
        second = started()
        assert not psutil.wait_procs(left, 20)[1]
        assert not folder.exists(), "with the sentences that its visitors read"
        second.terminate()
        assert second.wait(20) == 0
        assert list(there.iterdir()) == []
    finally:
        shutil.rmtree(there)


@pytest.fixture
def strict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Limits that a test reaches: their kind is as ever."""
    text = class_server.TEMPLATE.read_text()
    for usual, low in {
        "rate=600r/s": "rate=1r/s",
        "burst=6000": "burst=20",
        "header_timeout 10s": "header_timeout 1s",
    }.items():
        assert usual in text
        text = text.replace(usual, low)
    made = tmp_path / "nginx.conf.template"
    made.write_text(text)
    monkeypatch.setattr(class_server, "TEMPLATE", made)


@needs_nginx
def test_who_asks_without_end_is_refused_and_who_never_ends_asking_is_left(strict: None, watched: ClassServer):
    statuses = [asked(watched, "/").status for _ in range(40)]
    assert (statuses[:20], statuses[-1]) == ([200] * 20, 429)
    guarded(asked(watched, "/"))
    script = max((STATIC / "js").glob("index*.js")).name
    assert asked(watched, f"/static/js/{script}").status == 200, "files that nginx sends cost nobody"
    host, port = watched.listen.split(":")
    slow = socket.create_connection((host, int(port)), 20)
    slow.sendall(b"GET / HTTP/1.1\r\nHo")
    with pytest.raises(ConnectionResetError):
        slow.recv(100)


def test_a_class_behind_one_address_stays_below_the_limits():
    """Three hundred who open a page within five seconds: some ten requests of the app each, and seven connections."""
    text = class_server.TEMPLATE.read_text()
    rate, burst, most = (
        int(re.search(rf"{name}(\d+)", text)[1]) for name in ("rate=", "burst=", "limit_conn connected ")
    )
    assert burst + 5 * rate >= 300 * 20
    assert most >= 300 * 7
