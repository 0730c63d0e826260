"""A hosted server: whom it answers, and that its log is JSON without a word that a visitor typed."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator

import pytest

from attnviz.rooms.addresses import own_address
from attnviz.serve.page_table import NAMES as PAGES
from benchmarks.load.visitor import Visitor
from tests.browser.conftest import ROOT, Server
from tests.own_thread import in_own_thread
from tests.serve.test_plain_server import OTHER, answers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    env = os.environ | {"ATTNVIZ_HOSTED": "1", "STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}
    with Server(ROOT / "app.py", tmp_path_factory.mktemp("hosted") / "log.txt", env=env) as server:
        yield server


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

    in_own_thread(asyncio.run, visits())
    lines = hosted.log.read_text("utf-8").splitlines()
    assert {"home", "explore", "masks", "sharing"} <= set(typed)
    told = [json.loads(each) for each in lines if each.startswith("{")]
    assert sum(each["event"] == "answered" for each in told) >= len(PAGES)
    assert sum(each["event"] == "a visitor came" for each in told) == len(PAGES)
    assert marker not in "\n".join(lines)
    assert "uvicorn.access" not in {each["logger"] for each in told}, "no line for each request"
    assert [each for each in lines if each and not each.startswith("{")] == [], "every line is JSON"
