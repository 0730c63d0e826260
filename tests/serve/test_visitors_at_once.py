"""Three visitors who change heads at the same time: each is shown his own change, as if he were alone."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from attnviz.base.packed import unblob
from benchmarks.load.visitor import Visitor
from tests.browser.conftest import ROOT, Server

LINK = "text=The+keys+to+the+cabinet+are+here&at=3.1&open_what_if=true&again=true&where=all&mask="
MASKS = (("none", "window"), ("window", "causal"), ("causal", "none"))  #: by the link, and then by hand


async def changed(url: str, first: str, then: str) -> list[list[bytes]]:
    """The numbers of every picture that a visitor is shown under two changes, one after the other."""
    visitor, seen = Visitor(url), []
    await visitor.enter("explore", LINK + first)
    seen.append(pictures(visitor))
    edit = {"mask": then, "window": 2, "where": "all", "hidden": [1], "painted": "", "scale": "none", "seq": 1}
    await visitor.tell(visitor.find("head"), "edit", edit | {"factor": 1, "seen": "after"})
    seen.append(pictures(visitor))
    await visitor.leave()
    return seen


def pictures(visitor: Visitor) -> list[bytes]:
    shown = [each.proto for each in visitor.controls.values() if each.kind == "bidi_component" and each.proto.bytes]
    return [unblob(proto.bytes)[1] for proto in shown]


async def one_by_one(url: str) -> list[list[list[bytes]]]:
    return [await changed(url, *masks) for masks in MASKS]


async def at_once(url: str) -> list[list[list[bytes]]]:
    return list(await asyncio.gather(*(changed(url, *masks) for masks in MASKS)))


def answers(log: Path, visits: Callable[[str], Coroutine[Any, Any, Any]]) -> list[list[list[bytes]]]:
    """What visitors of a server that nobody has visited before are shown."""
    server = Server(ROOT / "app.py", log)
    try:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, visits(server.url)).result()
    finally:
        server.stop()


@pytest.mark.slow
def test_three_visitors_who_change_heads_at_once_see_what_each_sees_alone(tmp_path):
    alone = answers(tmp_path / "alone.txt", one_by_one)
    assert len({str(seen) for visitor in alone for seen in visitor}) == 6, "no change is another one's"
    assert answers(tmp_path / "together.txt", at_once) == alone
