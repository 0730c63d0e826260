"""What the server imports before anybody can come, and what it says of who can reach it."""

import asyncio
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from attnviz.serve import page_table, process_limits, server
from attnviz.serve.server import announcement
from attnviz.serve.watching import is_local
from tests.own_thread import in_own_thread

ROOT = Path(__file__).parents[2]


def test_the_line_that_is_logged_at_the_start_says_who_can_reach_the_address():
    assert all(map(is_local, ("127.0.0.1", "127.0.0.2", "localhost", "::1")))
    assert not any(map(is_local, ("0.0.0.0", "::", None, "192.168.1.7", "demo.example")))
    assert announcement("127.0.0.1", 8501, hosted=False).startswith(
        "attnviz is at http://localhost:8501, for this machine only; to share it in a room"
    )
    assert "though ATTNVIZ_HOSTED is set" in announcement("127.0.0.1", 8501, hosted=True)
    assert "for this machine only" not in announcement("0.0.0.0", 8501, hosted=False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_server_holds_as_many_connections_as_its_system_allows():
    import resource

    before = soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = max(len(os.listdir("/dev/fd")) + 50, 256)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(few, soft), hard))
        process_limits.open_more_files()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= min(hard, process_limits.MOST_FILES) > few
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("said, megabytes", [(None, 850), ("300", 300), ("0", 0), ("much", "much")])
def test_a_server_has_a_mark_of_memory_whoever_starts_it(said, megabytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ATTNVIZ_PROCESS_MB", said or "")
    monkeypatch.setattr(process_limits, "machine_memory", lambda: 10**9)
    monkeypatch.setattr(server, "_warm_or_say_why", lambda: None)

    async def started() -> str:
        async with server.lifespan(None):
            return os.environ["ATTNVIZ_PROCESS_MB"]

    assert in_own_thread(asyncio.run, started()) == str(megabytes)


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
    assert {"pandas", "pyarrow", "transformers.modeling_utils", *(page.draw for page in page_table.PAGES)} <= set(
        server.WHOLE
    )
    assert set(server.WHOLE) < set(sys.modules)
