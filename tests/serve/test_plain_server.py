"""A server as anybody starts it: whom it answers, and three visitors who change heads at the same time.

Each of them is shown his own change, as if he were alone.
"""

import asyncio
import os
import sys
import urllib.request
from collections.abc import Iterator

import pytest

from attnviz.base.head_edit import HeadEdit
from attnviz.base.packed import unpack_blob
from attnviz.base.record_json import to_json
from attnviz.rooms.addresses import own_address
from benchmarks.load.visitor import Visitor
from tests.browser.conftest import ROOT, Server
from tests.own_thread import in_own_thread

pytestmark = pytest.mark.slow
OTHER = "127.0.0.2"  # this machine too, but a server on 127.0.0.1 does not answer there: a stand-in for another machine
LINK = "text=The+keys+to+the+cabinet+are+here&at=3.1&open_what_if=true&again=true&where=all&mask="
MASKS = (("none", "window"), ("window", "causal"), ("causal", "none"))  #: by the link, and then by hand


async def changed(url: str, first: str, then: str) -> list[list[bytes]]:
    """The numbers of every picture that a visitor is shown under two changes, one after the other."""
    visitor, seen = Visitor(url), []
    await visitor.enter("explore", LINK + first)
    seen.append(pictures(visitor))
    edit = HeadEdit(then, window=2, hidden=(1,), scale="none", where="all")
    await visitor.tell(visitor.find("head"), "edit", to_json(edit) | {"seq": 1})
    seen.append(pictures(visitor))
    await visitor.leave()
    return seen


def pictures(visitor: Visitor) -> list[bytes]:
    shown = [each.proto for each in visitor.controls.values() if each.kind == "bidi_component" and each.proto.bytes]
    return [unpack_blob(proto.bytes)[1] for proto in shown]


async def one_by_one(url: str) -> list[list[list[bytes]]]:
    return [await changed(url, *masks) for masks in MASKS]


async def at_once(url: str) -> list[list[list[bytes]]]:
    return list(await asyncio.gather(*(changed(url, *masks) for masks in MASKS)))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """It keeps one pass and one change at a time, so that it computes for each visitor anew."""
    env = os.environ | {"ATTNVIZ_RUNS_MB": "1", "HF_HUB_OFFLINE": "1"}
    with Server(ROOT / "app.py", tmp_path_factory.mktemp("plain") / "log.txt", env=env) as server:
        yield server


def answers(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(f"{url}/attnviz/health", timeout=60).status == 200)
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is this machine on Linux only")
def test_a_plain_start_answers_this_machine_only_and_says_how_to_share_it(plain: Server):
    port, said = plain.url.rpartition(":")[2], plain.log.read_text("utf-8")
    assert answers(f"http://127.0.0.1:{port}")
    assert answers(f"http://localhost:{port}")
    assert not answers(f"http://{OTHER}:{port}")
    assert own_address() in ("localhost", "127.0.0.1") or not answers(f"http://{own_address()}:{port}")
    assert f"http://localhost:{port}, for this machine only; to share it in a room" in said
    assert "--server.address 0.0.0.0" in said


def test_three_visitors_who_change_heads_at_once_see_what_each_sees_alone(plain: Server):
    together = in_own_thread(asyncio.run, at_once(plain.url))
    alone = in_own_thread(asyncio.run, one_by_one(plain.url))
    assert len({str(seen) for visitor in alone for seen in visitor}) == 6, "no change is another one's"
    assert together == alone
