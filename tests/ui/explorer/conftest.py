import pytest
import streamlit as st

from attnviz.ui.shared import model_cache


@pytest.fixture
def memory(monkeypatch):
    """What visitors share, empty, and a session without anything in it."""
    monkeypatch.setattr(st, "session_state", {})
    fresh = model_cache.Shared()
    monkeypatch.setattr(model_cache, "_SHARED", fresh)
    return fresh
