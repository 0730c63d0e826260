"""A server whose clock is set back by a day while visitors are there: the C library's clocks are replaced under it."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from attnviz.base.packed import unblob
from benchmarks.load.visitor import Visitor
from tests.browser.conftest import ROOT, Server

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
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or not shutil.which("cc"), reason="the clocks are replaced by a C library"
    ),
]


def clocks(folder: Path) -> Path:
    """The library that is loaded before all others."""
    (folder / "clocks.c").write_text(CLOCKS)
    made = folder / "clocks.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(made), str(folder / "clocks.c")], check=True)
    return made


def pictures(visitor: Visitor) -> list[bytes]:
    """The numbers that the canvases of all heads and of one head were sent."""
    return [bytes(unblob(visitor.find(key).proto.bytes)[1]) for key in ("heads", "head")]


def test_a_clock_set_back_changes_no_picture_and_stops_nobody(tmp_path):
    moment, readings = tmp_path / "now", tmp_path / "readings"
    env = os.environ | {
        "LD_PRELOAD": str(clocks(tmp_path)),
        "SET_BACK_ONCE": str(moment),
        "ATTNVIZ_HOSTED": "1",
        "ATTNVIZ_READINGS": str(readings),
    }

    async def visits(url: str) -> None:
        here = Visitor(url)
        await here.enter("explore", "text=The+cat+sat")
        await here.use(here.find("text"), string_value="A bird sang")
        before = pictures(here)
        moment.touch()
        await here.use(here.find("text"), string_value="The bird sang")
        assert pictures(here) != before
        await here.use(here.find("text"), string_value="A bird sang")
        assert pictures(here) == before, "who was there goes on"
        later = Visitor(url)
        await later.enter("explore", "text=A+bird+sang")
        assert pictures(later) == before, "who comes later sees the same"
        await later.go("heads")
        for visitor in (here, later):
            await visitor.leave()

    server = Server(ROOT / "app.py", tmp_path / "log.txt", env=env)
    try:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, visits(server.url)).result()
    finally:
        server.stop()
    lines = [json.loads(each) for each in server.log.read_text("utf-8").splitlines() if each]
    assert {each["level"] for each in lines} <= {"info", "warning"}
    assert not [each for each in lines if "error" in each]
    times = [datetime.fromisoformat(each["time"]).astimezone(UTC).timestamp() for each in lines]
    assert max(before - after for before, after in pairwise(times)) > DAY - 600, "the log tells the clock that there is"
    assert len(list(readings.iterdir())) >= 2
