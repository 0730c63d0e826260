import numpy as np
import pytest
import streamlit as st
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attnviz.base import words
from attnviz.base.raw_scores import RawHead
from attnviz.canvas.head import ahead
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.blobs import head_blob
from attnviz.canvas.shared.kinds import Head, HeadScene, Raw
from attnviz.core.attention import attend
from attnviz.serve.server import ROUTES
from scripts.browser_cases import decoded

TOKENS = ("a", "b", "c")
SCENE = HeadScene(TOKENS, group="g")


def head_of(layer: int, head: int) -> Head:
    if layer > 1:
        raise LookupError(layer)
    weights = np.full((3, 3), 1 / 3) if head else np.eye(3)
    return Head(weights, f"Layer {layer}, head {head}", layer=layer, head=head)


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    return ahead.offer("view", head_of, SCENE)


def test_a_fetched_head_equals_the_one_the_script_would_send(address):
    token = address.rsplit("/", 1)[1]
    expected = head_blob(head_of(1, 0), SCENE, ahead.NOBODY, address, coarse=True)
    assert ahead.answer(token, 1, 0) == expected
    header, _ = packing.unblob(expected)
    assert header["tile"] == [1, 0]
    assert header["ahead"] == address


def raw_head(n: int, width: int) -> RawHead:
    made = torch.Generator().manual_seed(n)
    q, k = (torch.randn(n, width, generator=made) * 2 for _ in range(2))
    causal = np.tri(n, dtype=bool)
    return RawHead((q @ k.T).numpy(), causal, width**-0.5, width, q=q.numpy(), k=k.numpy())


@pytest.mark.parametrize("n", [100, 200, 400])
def test_a_fetched_head_takes_fewer_bytes_and_its_weights_are_those_that_attend_gives(n):
    head = raw_head(n, 64)
    drawn = Head(np.zeros((n, n)), "", raw=Raw(head))
    tokens = [str(i) for i in range(n)]
    exact, fetched = (
        packing.unblob(head_blob(drawn, HeadScene(tokens), ahead.NOBODY, coarse=coarse)) for coarse in (False, True)
    )
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


def test_a_session_keeps_its_address_and_nobody_can_guess_it(address):
    assert ahead.offer("view", head_of, SCENE) == address
    assert len(address.rsplit("/", 1)[1]) >= 20
    assert ahead.answer("guessed", 0, 0) is None


def test_a_head_that_does_not_exist_is_not_answered(address):
    assert ahead.answer(address.rsplit("/", 1)[1], 5, 0) is None


def test_the_server_serves_an_offered_head(address):
    client = TestClient(Starlette(routes=ROUTES))
    found = client.get(f"{address}/1.1")
    assert found.status_code == 200
    assert packing.unblob(found.content)[0]["title"] == "Layer 1, head 1"
    assert client.get(f"{address}/9.0").status_code == 404
    assert client.get("/attnviz/head/nonsense/0.0").status_code == 404
    assert client.get(f"{address}/x.y").status_code == 404


def test_the_title_is_in_the_language_of_the_visitor_who_offered_it(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    heard = []

    def listening(layer: int, head: int) -> Head:
        heard.append(words.language())
        return head_of(layer, head)

    with words.speaking("de"):
        address = ahead.offer("view", listening, SCENE)
    ahead.answer(address.rsplit("/", 1)[1], 0, 0)
    assert heard == ["de"]


def test_old_offers_are_dropped(monkeypatch):
    monkeypatch.setattr(ahead, "MOST", 3)
    addresses = []
    for _ in range(5):
        monkeypatch.setattr(st, "session_state", {})
        addresses.append(ahead.offer("view", head_of, SCENE).rsplit("/", 1)[1])
    assert [ahead.answer(token, 0, 0) is not None for token in addresses] == [False, False, True, True, True]
