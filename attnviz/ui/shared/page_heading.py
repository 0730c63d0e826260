"""The first line of every page: its title, and the menu that shares the view."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.ui.shared import presenting
from attnviz.ui.shared.share_menu import share_menu


def page_heading(title: str) -> None:
    """Draw the title, and at the end of its line what presents and shares the view."""
    presenting.headed(title)
    ends: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center"}
    with st.container(horizontal_alignment="distribute", key="page-heading", **ends):
        st.title(title, anchor=False, width="content")
        if not presenting.presenting():
            with st.container(width="content", gap="small", **ends):
                presenting.button()
                share_menu()
