"""What the server imports before anybody can come; that it answers only this machine unless it is told otherwise."""

import os
import re
import socket
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz.serve import page_table, server
from attnviz.serve.server import announcement, own_address
from attnviz.serve.watching import is_local

ROOT = Path(__file__).parents[2]
OTHER = "127.0.0.2"  # this machine too, but a server on 127.0.0.1 does not answer there: a stand-in for another machine


class Started:
    """A running `streamlit run app.py`, started as by hand."""

    def __init__(self, **variables: str) -> None:
        with socket.socket() as probe:
            probe.bind(("", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)],
            cwd=ROOT,
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""

    def wait(self) -> None:
        """Wait for the line with its address, which the server logs just before it answers requests."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if "attnviz is at" in line:
                return
        raise AssertionError(f"it did not start:\n{self.said}")

    def answers(self, address: str) -> bool:
        try:
            url = f"http://{address}:{self.port}/attnviz/health"
            return bool(urllib.request.urlopen(url, timeout=60).status == 200)
        except OSError:
            return False


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Started]]:
    """A plain and a hosted server, started together, with an empty cache folder so that neither loads a model."""
    empty = str(tmp_path_factory.mktemp("cache"))
    found = {
        "plain": Started(ATTNVIZ_CACHE=empty),
        "hosted": Started(ATTNVIZ_CACHE=empty, ATTNVIZ_HOSTED="1", STREAMLIT_SERVER_ADDRESS="0.0.0.0"),
    }
    try:
        for server in found.values():
            server.wait()
        yield found
    finally:
        for server in found.values():
            server.process.kill()
            server.process.wait()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is this machine on Linux only")
def test_a_plain_start_answers_this_machine_only_and_says_how_to_share_it(servers: dict[str, Started]):
    plain = servers["plain"]
    assert plain.answers("127.0.0.1")
    assert plain.answers("localhost")
    assert not plain.answers(OTHER)
    assert own_address() in ("localhost", "127.0.0.1") or not plain.answers(own_address())
    assert f"http://localhost:{plain.port}, for this machine only; to share it in a room" in plain.said
    assert "--server.address 0.0.0.0" in plain.said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is this machine on Linux only")
def test_a_hosted_demo_with_an_open_address_answers_everyone(servers: dict[str, Started]):
    hosted = servers["hosted"]
    assert hosted.answers("127.0.0.1")
    assert hosted.answers(OTHER)
    assert hosted.answers(own_address())
    assert f"http://{own_address()}:{hosted.port} for everyone" in hosted.said


def test_the_line_that_is_logged_at_the_start_says_who_can_reach_the_address():
    assert all(map(is_local, ("127.0.0.1", "127.0.0.2", "localhost", "::1")))
    assert not any(map(is_local, ("0.0.0.0", "::", None, "192.168.1.7", "demo.example")))
    assert announcement("127.0.0.1", 8501, hosted=False).startswith(
        "attnviz is at http://localhost:8501, for this machine only; to share it in a room"
    )
    assert "though ATTNVIZ_HOSTED is set" in announcement("127.0.0.1", 8501, hosted=True)
    assert "for this machine only" not in announcement("0.0.0.0", 8501, hosted=False)


def test_files_are_watched_by_make_dev_and_not_otherwise():
    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))
    assert settings["server"]["fileWatcherType"] == "none"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    dev, run = (re.search(rf"^{rule}:.*\n((?:\t.*\n)+)", makefile, re.M)[1] for rule in ("dev", "run"))
    assert "--server.fileWatcherType auto" in dev
    assert "--server.runOnSave true" in dev
    assert "fileWatcherType" not in run


#: One visitor's thread is held in the middle of pandas, as Streamlit would import it, while another draws a chart.
DRAWN_MEANWHILE = """
import importlib, sys, threading
import numpy as np
import attnviz.serve.server
from attnviz.figures import heatmap
begun, drawn = threading.Event(), threading.Event()

class Held:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("pandas.core"):
            begun.set()
            drawn.wait(2)

def visit():
    importlib.import_module("pandas")
    begun.set()

sys.meta_path.insert(0, Held())
visitor = threading.Thread(target=visit, daemon=True)
visitor.start()
begun.wait()
heatmap.matrix(np.eye(1), ["a"], ["b"]).to_json()
drawn.set()
visitor.join()
print("drawn")
"""


@pytest.mark.slow
def test_a_chart_is_drawn_while_another_visitor_makes_streamlit_import_pandas():
    done = subprocess.run([sys.executable, "-c", DRAWN_MEANWHILE], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "drawn\n", done.stderr


def test_a_first_visitor_imports_no_page():
    assert {"pandas", "pyarrow", *(page.draw for page in page_table.PAGES)} == set(server.WHOLE)
    assert set(server.WHOLE) < set(sys.modules)
