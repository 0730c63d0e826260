"""Several processes behind nginx: each visitor stays with one, and one that dies or is replaced loses nobody."""

import os
import shutil
import signal
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz.serve.compressed_files import STATIC
from deploy.class_server import ClassServer, free_port
from tests.browser.canvas_places import weights
from tests.browser.conftest import answered, until

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
pytestmark = [
    pytest.mark.xdist_group("class"),
    pytest.mark.skipif(
        NGINX is None and not os.environ.get("CI"), reason="NO NGINX on this machine: serving a class is NOT checked"
    ),
]
LINK = "explore?at=11.6&mask=none&text=Birds%20sing%20because%20they%20are%20birds"


@pytest.fixture(scope="module")
def class_server() -> Iterator[ClassServer]:
    folder = Path(tempfile.mkdtemp())  # not pytest's: nginx, started by root, reads its files as nobody
    server = ClassServer(2, f"127.0.0.1:{free_port()}", folder, grace=1)
    server.start()
    watching = threading.Thread(target=server.watch, daemon=True)
    watching.start()
    yield server
    server.stopped.set()
    watching.join(60)
    server.stop()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def visitor(class_server: ClassServer, browser: Any) -> Iterator[Any]:
    """The one visitor, who looks at one head of a sentence of his own, without its mask, by a link, and stays."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"http://{class_server.listen}/{LINK}")
    page.get_by_test_id("heatmap").first.wait_for(timeout=120_000)
    answered(page)
    yield page
    context.close()


def serving(server: ClassServer) -> list[int]:
    """The numbers of the processes that have visitors."""
    return [number for number, worker in enumerate(server.workers) if worker.counted("attnviz_visitors")]


def still_sees(page: Any, what: np.ndarray) -> None:
    """The page answers again, and a new start of it by its own link shows the same."""
    answered(page)
    np.testing.assert_allclose(weights(page), what, atol=1e-6)
    page.get_by_role("button", name="Share").first.wait_for()
    page.reload()
    page.get_by_test_id("heatmap").first.wait_for(timeout=120_000)
    answered(page)
    np.testing.assert_allclose(weights(page), what, atol=1e-6)


def test_a_visitor_stays_with_one_process_by_his_cookie_and_his_sentence_is_shared_in_a_folder(class_server, visitor):
    (number,) = serving(class_server)
    cookie = {each["name"]: each for each in visitor.context.cookies()}["attnviz_class"]
    assert cookie["httpOnly"]
    for _ in range(2):
        visitor.reload()
        visitor.get_by_test_id("heatmap").first.wait_for(timeout=60_000)
        assert serving(class_server) == [number]
    folder = Path(class_server.folder) / "readings"
    assert folder.stat().st_mode & 0o077 == 0, "of the owner's"
    assert list(folder.iterdir()), "the visitor's sentence"


def test_many_browsers_behind_one_address_are_shared_out(class_server):
    given = set()
    for _ in range(40):
        with urllib.request.urlopen(f"http://{class_server.listen}/") as answer:
            given.add(answer.headers["Set-Cookie"].split(";")[0])
    assert len(given) == 40
    health = "attnviz_health_requests_total"
    reached = [worker.counted(health) for worker in class_server.workers]
    for cookie in given:
        asked = urllib.request.Request(f"http://{class_server.listen}/attnviz/health", headers={"Cookie": cookie})
        with urllib.request.urlopen(asked) as answer:
            assert answer.status == 200
            assert answer.headers["Set-Cookie"] is None, "who has a cookie keeps it"
    more = [worker.counted(health) - before for worker, before in zip(class_server.workers, reached, strict=True)]
    assert sum(more) >= 40
    assert min(more) >= 8, "both have their part"


def test_static_files_come_from_nginx_compressed(class_server):
    name = max((STATIC / "js").glob("index*.js"), key=lambda path: path.stat().st_size).name
    asked = urllib.request.Request(
        f"http://{class_server.listen}/static/js/{name}", headers={"Accept-Encoding": "gzip"}
    )
    with urllib.request.urlopen(asked) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers["Server"] == "nginx"
        assert "immutable" in answer.headers["Cache-Control"]


def test_a_killed_process_loses_nobody(class_server, visitor):
    before = weights(visitor)
    (number,) = serving(class_server)
    killed = class_server.workers[number].process
    os.kill(killed.pid, signal.SIGKILL)
    until(lambda: class_server.workers[number].process is not killed, 120)
    until(lambda: len(serving(class_server)) == 1, 120)
    still_sees(visitor, before)


def test_a_new_version_rolls_in_and_the_visitor_stays(class_server, visitor):
    before = weights(visitor)
    old = {worker.process.pid for worker in class_server.workers}
    class_server.renew.set()
    until(lambda: not old & {worker.process.pid for worker in class_server.workers}, 180)
    for thread in class_server.leaving:
        thread.join(60)
    until(lambda: len(serving(class_server)) == 1, 120)
    still_sees(visitor, before)
