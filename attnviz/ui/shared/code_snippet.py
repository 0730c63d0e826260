"""The end of every page: a few lines of PyTorch that print the page's numbers."""

from __future__ import annotations

import streamlit as st

from attnviz.words import _


def snippet(code: str, key: str, title: str | None = None, said: str | None = None) -> None:
    """A short runnable program that reproduces what the page shows; `said` where it prints something else."""
    with st.container(key=f"snippet-{key}"):
        st.subheader(title or _("The same in PyTorch"), anchor=False)
        st.caption(said or _("Paste this code into a notebook: it prints the numbers above."))
        st.code(code, language="python")
