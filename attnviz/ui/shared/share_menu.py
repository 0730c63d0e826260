"""Share the current view: as a link, or as a file where a link is too short for what is painted."""

from __future__ import annotations

import streamlit as st

from attnviz.core.message import Problem
from attnviz.ui.shared import link_state, page_address, saved_views
from attnviz.ui.shared.copy_buttons import copy_buttons
from attnviz.ui.shared.embed_code import embed_code, who_may_embed
from attnviz.ui.shared.guarding import show_problem
from attnviz.ui.shared.page_files import file_of
from attnviz.ui.shared.presenting import FIGURE
from attnviz.ui.shared.streamlit_adapter import upload_id
from attnviz.ui.shared.text import spoken
from attnviz.words import _

_OPENED = "_view_opened"  #: id of the last file that was opened: a rerun must not open the same upload again


@st.fragment
def share_menu() -> None:
    """The link, a file to save, and a file to open; the same on every page.

    Computed when opened, so never out of date.
    """
    box = st.popover(_("Share"), icon=":material/link:", type="tertiary", key="share", on_change="rerun")
    if not box.open:
        return
    with box:
        address = page_address.address(without=(FIGURE,))
        if address:
            _addresses(address)
        problem = link_state.too_large()
        if problem is not None:
            show_problem(problem)
        st.download_button(
            _("Save this view as a file"),
            data=saved_views.save(),
            file_name="attention-view.json",
            mime="application/json",
            on_click="ignore",
            key="save-view",
        )
        uploaded = st.file_uploader(_("Open a saved view"), type="json", key="view-file")
        if uploaded is not None and st.session_state.get(_OPENED) != upload_id(uploaded):
            st.session_state[_OPENED] = upload_id(uploaded)
            _open(uploaded.getvalue().decode("utf-8", "replace"))


def _addresses(address: str) -> None:
    """The link and the code that embeds it, each with a button that copies it."""
    code = embed_code(address, _("Attention, shown with attnviz"))
    copy_buttons(
        "copy-view",
        {"link": (_("Copy link"), address), "embed": (_("Copy embed code"), code)},
        failed=_("The browser did not allow it: select the text below and copy it."),
    )
    st.caption(_("This link opens the view as it is now."))
    st.code(address, language=None, wrap_lines=True)
    st.caption(_("This code shows it inside another page."))
    st.code(code, language="html", wrap_lines=True)
    limit = who_may_embed(address, page_address.public_address() is not None)
    if limit is not None:
        st.caption(spoken(limit))


def _open(text: str) -> None:
    try:
        page = saved_views.open_view(text)
    except Problem as problem:
        show_problem(problem)
        return
    if page != link_state.current_page():
        st.switch_page(file_of(page))
    st.rerun(scope="app")
