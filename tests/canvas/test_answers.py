"""What an answer says of itself, so that the browser can tell which gesture it has not heard of."""

import pytest
import streamlit as st

from attnviz.canvas.shared.gestures import answering


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})


def test_a_session_keeps_its_name_and_another_has_another(session, monkeypatch):
    first = answering(3)
    assert answering(4) == first | {"ack": 4}
    monkeypatch.setattr(st, "session_state", {})
    assert answering(4)["session"] != first["session"]


@pytest.mark.parametrize("ack", [None, "7", 2.5])
def test_what_is_no_number_has_heard_of_nothing(session, ack):
    assert answering(ack)["ack"] == 0
