import numpy as np
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attnviz.base.raw_scores import RawHead
from attnviz.canvas.head import sentence_heads
from attnviz.canvas.shared import packing
from attnviz.serve.server import routes
from scripts.browser_cases import decoded


@pytest.fixture(autouse=True)
def _session(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})


def blob() -> bytes:
    rng = np.random.default_rng(0)
    raw = [RawHead(rng.normal(size=(3, 4)).astype(np.float32), np.ones((3, 4), bool), 0.5, 8) for _ in range(6)]
    return sentence_heads.blob_of("doc", [2, 4], raw)


def token_of(address: str) -> str:
    return address.rsplit("/", 1)[1]


def answered(make) -> bytes | None:
    return sentence_heads.answer(token_of(sentence_heads.offer("x", make)))


def test_everyone_who_reads_a_sentence_is_given_the_same_address():
    first = sentence_heads.offer(("model", "a sentence"), blob)
    st.session_state.clear()  # another visitor
    assert sentence_heads.offer(("model", "a sentence"), blob) == first
    assert sentence_heads.offer(("model", "another sentence"), blob) != first


def test_who_does_not_know_the_key_cannot_make_the_address(monkeypatch):
    here = sentence_heads.offer(("model", "a sentence"), blob)
    monkeypatch.setattr(sentence_heads, "_KEY", b"another process")
    assert sentence_heads.offer(("model", "a sentence"), blob) != here
    assert len(token_of(here)) == 40
    assert sentence_heads.answer("0" * 40) is None


def test_what_stands_there_is_every_head():
    found = sentence_heads.answer(token_of(sentence_heads.offer("x", blob)))
    header, payload = packing.unblob(found)
    assert (header["doc"], header["heads"]) == ("doc", [2, 4])
    assert decoded(header["raw"], payload).shape == (6, 3, 4)


def test_what_is_no_longer_in_memory_is_not_made_again():
    def gone() -> bytes:
        raise LookupError("evicted")

    assert answered(gone) is None


def test_scores_that_overflowed_and_what_is_too_large_are_not_sent():
    wrong = RawHead(np.full((2, 2), np.inf, np.float32), np.ones((2, 2), bool), 1.0, 4)
    assert (
        sentence_heads.answer(token_of(sentence_heads.offer("x", lambda: sentence_heads.blob_of("d", [1], [wrong]))))
        is None
    )
    assert (
        sentence_heads.answer(token_of(sentence_heads.offer("y", lambda: b" " * (sentence_heads.MOST_BYTES + 1))))
        is None
    )


def test_only_the_latest_sentences_are_remembered(monkeypatch):
    monkeypatch.setattr(sentence_heads, "MOST", 3)
    tokens = [token_of(sentence_heads.offer(("sentence", number), blob)) for number in range(5)]
    assert [sentence_heads.answer(token) is not None for token in tokens] == [False, False, True, True, True]


@pytest.mark.parametrize(
    "heads, tokens, fits", [(270, 20, True), (270, 64, True), (270, 65, False), (1024, 64, False), (1024, 30, True)]
)
def test_short_sentences_fit(heads, tokens, fits):
    assert sentence_heads.fits(heads, tokens, tokens) is fits


@pytest.mark.parametrize("base", ["", "attention"])
def test_the_server_hands_it_out_to_be_kept(base):
    client = TestClient(Starlette(routes=routes(base)))
    path = f"/{base}/{sentence_heads.PREFIX}/".replace("//", "/")
    found = client.get(path + token_of(sentence_heads.offer("x", blob)))
    assert found.status_code == 200
    assert found.content == blob()
    assert found.headers["content-type"] == "application/octet-stream"
    assert "immutable" in found.headers["cache-control"]
    missing = client.get(path + "0" * 40)
    assert missing.status_code == 404
    assert missing.headers["cache-control"] == "no-store"  # it may be there a moment later
