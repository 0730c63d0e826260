"""The first line of every page: its title, and the menu that shares the view."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.shared.share_menu import share_menu


def page_heading(title: str) -> None:
    """Draw the title, and the share menu at the end of its line."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title(title, anchor=False, width="content")
        share_menu()
