"""Addresses of the server's own routes, as the visitor's browser must ask for them.

A page lies one step below the app's root ("/explore"), and the root may itself lie below a base path or a proxy's
prefix ("/attention/explore"). Python knows both: the address that the visitor sees, and which page it is.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

_PAGE = "_page_path"


def remember_page(path: str) -> None:
    """Say which page runs ("" is the start page); the main script does, before it runs it."""
    st.session_state[_PAGE] = path


def app_root() -> str:
    """The path of the app's root, with a slash at its end."""
    path = urlsplit(st.context.url or "").path.rstrip("/")
    page = st.session_state.get(_PAGE)
    return (path.removesuffix(f"/{page}") if page else path) + "/"
