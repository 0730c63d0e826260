"""A hosted server: whom it answers, that its log is JSON without a word that a visitor typed, and a clock set back.

The clock is set back by a day while visitors are there: the C library's clocks are replaced under the server.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from attnviz.base.packed import unpack_blob
from attnviz.rooms.addresses import own_address
from attnviz.serve.page_table import NAMES as PAGES
from benchmarks.load.visitor import Visitor
from tests.browser.conftest import ROOT, Server
from tests.own_thread import in_own_thread
from tests.serve.test_plain_server import OTHER, answers

pytestmark = pytest.mark.slow
DAY = 86_400
CLOCKS = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static time_t back(void) { return access(getenv("SET_BACK_ONCE"), F_OK) ? 0 : 86400; }
int clock_gettime(clockid_t which, struct timespec *at) {
    int failed = syscall(SYS_clock_gettime, which, at);
    if (!failed && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) at->tv_sec -= back();
    return failed;
}
time_t time(time_t *into) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (into) *into = at.tv_sec;
    return at.tv_sec;
}
int gettimeofday(struct timeval *restrict into, void *restrict zone) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    into->tv_sec = at.tv_sec;
    into->tv_usec = at.tv_nsec / 1000;
    return 0;
}
"""


def clocks(folder: Path) -> Path:
    """The library that is loaded before all others."""
    (folder / "clocks.c").write_text(CLOCKS)
    made = folder / "clocks.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(made), str(folder / "clocks.c")], check=True)
    return made


CAN_BE_SET_BACK = sys.platform == "linux" and shutil.which("cc") is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server reads and writes: its log, the passes that it shares, and `now`, which sets its clock back."""
    return tmp_path_factory.mktemp("hosted")


@pytest.fixture(scope="module")
def hosted(folder: Path) -> Iterator[Server]:
    env = os.environ | {
        "ATTNVIZ_HOSTED": "1",
        "ATTNVIZ_READINGS": str(folder / "readings"),
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",
    }
    if CAN_BE_SET_BACK:
        env |= {"LD_PRELOAD": str(clocks(folder)), "SET_BACK_ONCE": str(folder / "now")}
    with Server(ROOT / "app.py", folder / "log.txt", env=env) as server:
        yield server


def log_of(server: Server, visits: Coroutine[Any, Any, None]) -> str:
    """What the server has logged since it was started, once it was visited."""
    in_own_thread(asyncio.run, visits)
    return server.log.read_text("utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is this machine on Linux only")
def test_a_hosted_demo_with_an_open_address_answers_everyone(hosted: Server):
    port = hosted.url.rpartition(":")[2]
    for address in ("127.0.0.1", OTHER, own_address()):
        assert answers(f"http://{address}:{port}")
    assert f"http://{own_address()}:{port} for everyone" in hosted.log.read_text("utf-8")


def test_a_hosted_server_says_nothing_of_what_its_visitors_type(hosted: Server):
    """A sentence in the link and in the field of every page, links that make no sense, and a connection broken off."""
    marker, typed = "zanzibarquokka", list[str]()

    async def visits() -> None:
        for page in PAGES:
            visitor = Visitor(hosted.url)
            await visitor.fetch([f"/{page}?text={marker}"])
            await visitor.enter(page, f"text={marker}&at={marker}&lang={marker}&layer={marker}")
            fields = [each for each in visitor.controls.values() if each.kind in ("text_area", "text_input")]
            for field in fields[:1]:
                await visitor.use(field, string_value=f"{marker} {marker}")
                typed.append(page)
            visitor.socket.transport.abort()

    lines = log_of(hosted, visits()).splitlines()
    assert {"home", "explore", "masks", "sharing"} <= set(typed)
    told = [json.loads(each) for each in lines if each.startswith("{")]
    assert sum(each["event"] == "answered" for each in told) >= len(PAGES)
    assert sum(each["event"] == "a visitor came" for each in told) == len(PAGES)
    assert marker not in "\n".join(lines)
    assert "uvicorn.access" not in {each["logger"] for each in told}, "no line for each request"
    assert [each for each in lines if each and not each.startswith("{")] == [], "every line is JSON"


def pictures(visitor: Visitor) -> list[bytes]:
    """The numbers that the canvases of all heads and of one head were sent."""
    return [bytes(unpack_blob(visitor.find(key).proto.bytes)[1]) for key in ("heads", "head")]


@pytest.mark.skipif(not CAN_BE_SET_BACK, reason="the clocks are replaced by a C library")
def test_a_clock_set_back_changes_no_picture_and_stops_nobody(hosted: Server, folder: Path):
    kept_before = len(list(folder.glob("readings/*")))

    async def visits() -> None:
        here = Visitor(hosted.url)
        await here.enter("explore", "text=The+cat+sat")
        await here.use(here.find("text"), string_value="A bird sang")
        before = pictures(here)
        (folder / "now").touch()
        await here.use(here.find("text"), string_value="The bird sang")
        assert pictures(here) != before
        await here.use(here.find("text"), string_value="A bird sang")
        assert pictures(here) == before, "who was there goes on"
        later = Visitor(hosted.url)
        await later.enter("explore", "text=A+bird+sang")
        assert pictures(later) == before, "who comes later sees the same"
        await later.go("heads")
        for visitor in (here, later):
            await visitor.leave()

    lines = [json.loads(each) for each in log_of(hosted, visits()).splitlines() if each]
    assert {each["level"] for each in lines} <= {"info", "warning"}
    assert not [each for each in lines if "error" in each]
    times = [datetime.fromisoformat(each["time"]).astimezone(UTC).timestamp() for each in lines]
    assert max(before - after for before, after in pairwise(times)) > DAY - 600, "the log tells the clock that there is"
    assert len(list(folder.glob("readings/*"))) >= kept_before + 2
