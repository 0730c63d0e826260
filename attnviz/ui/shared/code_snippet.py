"""A few lines of PyTorch that print a page's numbers, below them."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.shared import presenting
from attnviz.words import _


def snippet(code: str, key: str, title: str | None = None, about: str | None = None) -> None:
    """A short runnable program that reproduces what the page shows, closed until it is opened.

    `about` says which of the numbers above it prints; without it, it prints them all.
    """
    if presenting.presenting():
        return
    with (
        st.container(key=f"snippet-{key}"),
        st.expander(title or _("The same in PyTorch"), icon=":material/code:"),
    ):
        st.caption(about or _("Paste this code into a notebook: it prints the numbers above."))
        st.code(code, language="python")
