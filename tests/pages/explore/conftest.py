"""Sentences run through the trained models, and an empty memory of what visitors share."""

import pytest
import streamlit as st

from attnviz.app.cache import model_cache
from tests.analysis.conftest import decoded, paired

__all__ = ["decoded", "paired"]


@pytest.fixture
def memory(monkeypatch):
    """What visitors share, empty, and a session without anything in it."""
    monkeypatch.setattr(st, "session_state", {})
    fresh = model_cache.ProcessCaches()
    monkeypatch.setattr(model_cache, "_SHARED", fresh)
    return fresh
