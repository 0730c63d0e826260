"""The first line of every page: its title, and the menu that shares the view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attnviz.ui.shared import presenting, term_popover
from attnviz.ui.shared.share_menu import share_menu


def page_heading(title: str, about: str | None = None, terms: Sequence[str] = (), *, low: bool = False) -> None:
    """Draw the title with what presents and shares the view, what the page is `about`, and its words explained.

    `about` is two sentences, for somebody who comes here first; on a projector it stands beside the title. `terms` are
    ids of the glossary. `low`: the picture needs a projector's whole height, and the terms go to the end of the page.
    """
    presenting.headed(title)
    ends: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center"}
    with st.container(horizontal_alignment="distribute", key="page-heading", **ends):
        st.title(title, anchor=False, width="content")
        if not presenting.presenting():
            with st.container(width="content", gap="small", **ends):
                presenting.button()
                share_menu()
            if about:
                st.container(key="page-about").markdown(about)
    if terms and not presenting.presenting():
        with st.container(key="page-terms-low" if low else "page-terms"):
            term_popover.terms(*terms, key="-page", letters=True)
