"""The first line of every page: its title, and the menu that shares the view."""

from typing import Any

import streamlit as st

from attnviz.app import presenting, term_popover
from attnviz.app.page_entry import Page
from attnviz.app.share_menu import share_menu
from attnviz.base.words import _


def page_heading(page: Page, *, about: bool = True) -> None:
    """Draw the title with what presents and shares the view, what the page is `about`, and its words explained.

    On a projector the sentences about it stand beside the title.
    """
    title = _(page.heading)
    presenting.headed(title)
    ends: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center"}
    with st.container(horizontal_alignment="distribute", key="page-heading", **ends):
        st.title(title, anchor=False, width="content")
        if not presenting.presenting():
            with st.container(width="content", gap="small", **ends):
                presenting.button()
                share_menu()
            if about and page.about:
                st.container(key="page-about").markdown(_(page.about))
    if page.terms and not presenting.presenting():
        with st.container(key="page-terms-low" if page.terms_below else "page-terms"):
            term_popover.terms(*page.terms, key="-page", letters=True)
