from __future__ import annotations

import numpy as np
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attnviz import words
from attnviz.ui.canvas import Head, Options, ahead, packing
from attnviz.ui.canvas.blobs import head_blob
from attnviz.ui.web.server import ROUTES

TOKENS = ("a", "b", "c")


def head_of(layer: int, head: int) -> Head:
    if layer > 1:
        raise LookupError(layer)
    weights = np.full((3, 3), 1 / 3) if head else np.eye(3)
    return Head(weights, f"Layer {layer}, head {head}", layer=layer, head=head)


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    return ahead.offer("view", head_of, "g", TOKENS, None, Options())


def test_a_fetched_head_equals_the_one_the_script_would_send(address):
    token = address.rsplit("/", 1)[1]
    expected = head_blob("g", head_of(1, 0), TOKENS, None, Options(), None, ahead.NOBODY, address)
    assert ahead.answer(token, 1, 0) == expected
    header, _ = packing.unblob(expected)
    assert header["tile"] == [1, 0]
    assert header["ahead"] == address


def test_a_session_keeps_its_address_and_nobody_can_guess_it(address):
    assert ahead.offer("view", head_of, "g", TOKENS, None, Options()) == address
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
        address = ahead.offer("view", listening, "g", TOKENS, None, Options())
    ahead.answer(address.rsplit("/", 1)[1], 0, 0)
    assert heard == ["de"]


def test_old_offers_are_dropped(monkeypatch):
    monkeypatch.setattr(ahead, "MOST", 3)
    addresses = []
    for _ in range(5):
        monkeypatch.setattr(st, "session_state", {})
        addresses.append(ahead.offer("view", head_of, "g", TOKENS, None, Options()).rsplit("/", 1)[1])
    assert [ahead.answer(token, 0, 0) is not None for token in addresses] == [False, False, True, True, True]
