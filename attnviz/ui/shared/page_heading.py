"""The first line of every page: its title, and the menu that shares the view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attnviz.ui.shared import presenting, term_popover
from attnviz.ui.shared.share_menu import share_menu


def page_heading(title: str, about: str | None = None, terms: Sequence[str] = (), *, low: bool = False) -> None:
    """Draw the title with what presents and shares the view, what the page is `about`, and its words explained.

    `about` is two sentences, for somebody who comes here first; `terms` are ids of the glossary.
    `low`: the picture needs a projector's height, where the sentences stand beside the title and the terms at the end.
    """
    presenting.headed(title)
    ends: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center"}
    with st.container(horizontal_alignment="distribute", key="page-heading", **ends):
        st.title(title, anchor=False, width="content")
        if not presenting.presenting():
            with st.container(width="content", gap="small", **ends):
                presenting.button()
                share_menu()
    if presenting.presenting():
        return
    with st.container(key="page-about-low" if low else "page-about"):
        if about:
            st.markdown(about)
        if terms:
            term_popover.terms(*terms, key="-page", letters=True)
