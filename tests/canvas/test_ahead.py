"""What the browser fetches by itself: a head of a view, all heads of a sentence."""

import asyncio
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attnviz.base.head_record import HeadChannel, HeadData, HeadView
from attnviz.canvas.head import ahead
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.blobs import head_blob
from attnviz.core.attention import attend
from attnviz.serve.server import routes
from tests.js.browser_cases import decoded
from tests.own_thread import in_own_thread

GROUP = HeadChannel("g")


@pytest.fixture(autouse=True)
def _session(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})


def head_of(layer: int, head: int) -> tuple[HeadData, HeadView]:
    if layer > 1:
        raise LookupError(layer)
    weights = np.full((3, 3), 1 / 3) if head else np.eye(3)
    data = HeadData.of_values(weights, ("a", "b", "c"))
    return data, HeadView(f"Layer {layer}, head {head}", tile=(layer, head))


def sentence() -> bytes:
    rng = np.random.default_rng(0)
    raw = [HeadData(rng.normal(size=(3, 4)).astype(np.float32), np.ones((3, 4), bool), 0.5, 8) for _ in range(6)]
    return ahead.sentence_blob("doc", [2, 4], raw)


def offered(name, make) -> str:
    return ahead.offer_bytes(name, make).lstrip("/")


def test_a_fetched_head_equals_the_one_the_script_would_send():
    address = ahead.offer_head("view", head_of, GROUP)
    expected = head_blob(*head_of(1, 0), channel=replace(GROUP, ahead=address), coarse=True)
    assert ahead.find_offer(address.lstrip("/"), 1, 0) == expected
    header, _ = packing.unpack_blob(expected)
    assert (header["tile"], header["ahead"]) == ([1, 0], address)


def raw_head(n: int, width: int) -> HeadData:
    made = torch.Generator().manual_seed(n)
    q, k = (torch.randn(n, width, generator=made) * 2 for _ in range(2))
    causal = np.tri(n, dtype=bool)
    return HeadData((q @ k.T).numpy(), causal, width**-0.5, width, q=q.numpy(), k=k.numpy())


@pytest.mark.parametrize("n", [100, 200, 400])
def test_a_fetched_head_takes_fewer_bytes_and_its_weights_are_those_that_attend_gives(n):
    head = raw_head(n, 64)
    data = replace(head, tokens_q=[str(i) for i in range(n)])
    exact, fetched = (packing.unpack_blob(head_blob(data, HeadView(), coarse=coarse)) for coarse in (False, True))
    assert not exact[0]["coarse"]
    assert fetched[0]["coarse"] == (n < 256), "of a longer text q and k are less"
    assert len(fetched[1]) <= len(exact[1]) * (0.53 if n == 100 else 0.81 if n == 200 else 1)
    if n > 256:
        return
    scores = torch.from_numpy(decoded(fetched[0]["raw"]["scores"], fetched[1])[0])
    one, mask = torch.eye(n)[None], torch.from_numpy(head.mask)
    for times, off in ((1, 2e-4), (10, 2e-3)):
        # scores as the queries of an identity: q.kT is then the scores themselves
        found, expected = (
            attend(each[None], one, one, mask, head.scale * times).weights
            for each in (scores, torch.from_numpy(head.scores))
        )
        assert (found - expected).abs().max() < off


def test_a_session_keeps_its_address_and_everyone_who_reads_a_sentence_is_given_the_same(monkeypatch):
    mine, ours = ahead.offer_head("view", head_of, GROUP), offered(("model", "a sentence"), sentence)
    assert ahead.offer_head("view", head_of, GROUP) == mine
    st.session_state.clear()  # another visitor
    assert ahead.offer_head("view", head_of, GROUP) != mine
    assert offered(("model", "a sentence"), sentence) == ours != offered(("model", "another sentence"), sentence)
    assert len(mine.rsplit("/", 1)[1]) >= 20, "nobody can guess it"
    assert len(ours.rsplit("/", 1)[1]) == 40
    monkeypatch.setattr(ahead, "_KEY", b"another process")
    assert offered(("model", "a sentence"), sentence) != ours


def test_what_is_gone_overflowed_or_is_too_large_is_not_sent():
    def gone() -> bytes:
        raise LookupError("evicted")

    wrong = HeadData(np.full((2, 2), np.inf, np.float32), np.ones((2, 2), bool), 1.0, 4)
    assert ahead.find_offer(offered("x", gone)) is None
    assert ahead.find_offer(offered("x", lambda: ahead.sentence_blob("d", [1], [wrong]))) is None
    assert ahead.find_offer(offered("y", lambda: b" " * ahead.MOST_BYTES)) is not None
    assert ahead.find_offer(offered("y", lambda: b" " * (ahead.MOST_BYTES + 1))) is None


@pytest.mark.parametrize("base", ["", "/attention"])
def test_the_server_hands_them_out(base):
    client = TestClient(Starlette(routes=routes(base)))
    head, every = base + ahead.offer_head("view", head_of, GROUP), base + "/" + offered("x", sentence)
    assert packing.unpack_blob(client.get(f"{head}/1.1").content)[0]["title"] == "Layer 1, head 1"
    assert "no-store" in client.get(f"{head}/1.1").headers["cache-control"]
    found = client.get(every)
    assert found.content == sentence()
    assert found.headers["content-type"] == "application/octet-stream"
    assert "immutable" in found.headers["cache-control"]
    for missing in (f"{head}/9.0", f"{head}/x.y", f"{base}/attnviz/head/guessed/0.0", f"{base}/attnviz/heads/guessed"):
        assert client.get(missing).status_code == 404
    for other in (every.replace("heads", "head") + "/0.0", head.replace("head", "heads", 1)):
        assert client.get(other).status_code == 404, "an address of one kind is none of the other"
    # it may be there a moment later
    assert client.get(f"{base}/attnviz/heads/guessed").headers["cache-control"] == "no-store"


def test_of_twenty_connections_at_one_address_one_is_computed_at_a_time_and_two_of_all():
    under_way, most = Counter[str](), Counter[str]()

    def made(address: str):
        def head(layer: int, number: int) -> tuple[HeadData, HeadView]:
            under_way.update([address, "all"])
            most[address] = max(most[address], under_way[address])
            most["all"] = max(most["all"], under_way["all"])
            time.sleep(0.005)
            under_way.subtract([address, "all"])
            return head_of(layer, number)

        return head

    app = Starlette(routes=routes())

    async def status(path: str) -> int:
        sent = []

        async def send(message) -> None:
            sent.append(message)

        await app({"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}, None, send)
        return sent[0]["status"]

    async def fetched() -> list[int]:
        addresses = [ahead.offer_head(f"view {n}", made(f"view {n}"), GROUP) for n in range(3)]
        return await asyncio.gather(*(status(f"{addresses[n % 3]}/0.{n % 2}") for n in range(20)))

    assert in_own_thread(asyncio.run, fetched()) == [200] * 20
    assert most == {"view 0": 1, "view 1": 1, "view 2": 1, "all": 2}
