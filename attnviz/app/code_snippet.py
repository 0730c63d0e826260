"""Programs that a page shows: a few lines that print its numbers."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import presenting
from attnviz.app.fragment import fragment
from attnviz.base.words import _


def snippet(code: str, key: str, title: str | None = None, about: str | None = None) -> None:
    """A short runnable program that reproduces what the page shows.

    `about` says which of the numbers above it prints; without it, it prints them all.
    """
    if presenting.presenting():
        return
    with st.container(key=f"snippet-{key}"):
        _snippet(code, key, title, about)


@fragment
def _snippet(code: str, key: str, title: str | None, about: str | None) -> None:
    box = program_box(key, title)
    if box is None:
        return
    with box:
        st.caption(about or _("Paste this code into a notebook: it prints the numbers above."))
        st.code(code, language="python")


def program_box(key: str, title: str | None = None) -> DeltaGenerator | None:
    """A box for a program, None while it is closed: the browser then needs no highlighter, which is 1.5 MB."""
    box = st.expander(title or _("The same in PyTorch"), icon=":material/code:", key=f"code-{key}", on_change="rerun")
    return box if box.open else None
