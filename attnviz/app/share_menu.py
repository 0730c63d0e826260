"""Share the current view: as a link, or as a file where a link is too short for what is painted."""

from __future__ import annotations

import html
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from attnviz.app.fragment import fragment
from attnviz.app.guarding import show_problem
from attnviz.app.links import link_state, page_address, saved_views
from attnviz.app.mends.streamlit_adapter import upload_id
from attnviz.app.page_entry import file_of
from attnviz.app.presenting import FIGURE
from attnviz.app.text import spoken
from attnviz.base.message import Message, Problem, Several
from attnviz.base.words import _
from attnviz.canvas.shared.registration import component
from attnviz.models import settings

_OPENED = "_view_opened"  #: id of the last file that was opened: a rerun must not open the same upload again


@fragment
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


def copy_buttons(key: str, texts: Mapping[str, tuple[str, str]], failed: str) -> None:
    """A button for each of `texts`: its label and what it copies. `failed`: what to do where a browser refuses."""
    named = [{"name": name, "label": label, "text": text} for name, (label, text) in texts.items()]
    labels = {"done": _("Copied."), "failed": failed}
    component("copy_text")(key=key, data={"texts": named, "labels": labels})


HEIGHT = 720  # pixels: the picture, its sentence and the controls above


def embed_code(address: str, title: str, more: Mapping[str, str] | None = None) -> str:
    """An iframe of the view without Streamlit's own bar; `more` parameters say what of it is shown."""
    parts = urlsplit(address)
    query = "&".join(filter(None, (parts.query, urlencode({**(more or {}), "embed": "true"}))))
    source = html.escape(urlunsplit(parts._replace(query=query)))
    return (
        f'<iframe src="{source}" title="{html.escape(title)}" width="100%" height="{HEIGHT}" '
        'style="border:0" loading="lazy" allow="clipboard-write"></iframe>'
    )


def who_may_embed(address: str, reachable: bool) -> Message | None:
    """Why the code may show nothing on another page; None where any page may hold the view."""
    if not reachable:
        return Message(
            "This app answers at {host}, which other machines cannot reach: the code works on this machine only. "
            "A live HTML file needs no server.",
            {"host": urlsplit(address).hostname or address},
        )
    try:
        allowed = settings.current().embed
    except Problem:
        allowed = ()
    if allowed == "anywhere":
        return None
    if not allowed:
        return Message("This app may be shown inside its own pages only; whoever runs it can set ATTNVIZ_EMBED.")
    return Message("Only these pages may show this app inside them: {pages}.", {"pages": Several(allowed)})
