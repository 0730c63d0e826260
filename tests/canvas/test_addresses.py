"""Addresses of the server's own routes, below any base path and on any page."""

from types import SimpleNamespace

import pytest
import streamlit as st

from attnviz.canvas.shared.registration import app_root, remember_page


@pytest.mark.parametrize(
    "seen, page, root",
    [
        (None, "", "/"),
        ("http://localhost:8501", "", "/"),
        ("http://localhost:8501/", "", "/"),
        ("http://localhost:8501/explore", "explore", "/"),
        ("https://host.example/attention", "", "/attention/"),
        ("https://host.example/attention/explore", "explore", "/attention/"),
        ("https://host.example/explore/explore", "explore", "/explore/"),
        ("https://host.example/explore", "", "/explore/"),
    ],
)
def test_the_root_is_what_stands_before_the_page(monkeypatch, seen, page, root):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "context", SimpleNamespace(url=seen))
    remember_page(page)
    assert app_root() == root
