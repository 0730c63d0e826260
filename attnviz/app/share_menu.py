"""Share the current view: as a link, as a file where a link is too short for what is painted, or inside another page.

With `embed=true&figure=KEY` one figure of the page is shown there alone. The page runs as always, so that the figure
answers as it does in the app. A style, which the server puts into the page, hides all but the figure: what draws it,
and the line under it with its sentence and its menu.
"""

import html
import re
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.page_entry import page_file
from attnviz.app.panel import fragment, show_problem, show_problems
from attnviz.app.presenting import FIGURE, PRESENT, embedded_figure
from attnviz.app.text import translate_markdown
from attnviz.app.workarounds.streamlit_adapter import app_session, upload_id
from attnviz.base.message import Message, MessageList, Problem
from attnviz.base.words import _
from attnviz.canvas.shared.component import get_component
from attnviz.models import settings

_OPENED = "_view_opened"  #: id of the last file that was opened: a rerun must not open the same upload again
_FIGURE_KEYS = "_figures_drawn"  #: the keys of the figures that this run of the page has drawn
_KEY = re.compile(r"[A-Za-z0-9_-]{1,80}")  #: of a figure, what a style sheet takes as it is
_BACK = "embedded-figure-back"


def share_menu() -> None:
    """The link, a file to save, and a file to open; the same on every page.

    Computed when opened, so never out of date, and only then a fragment: one for the closed menu took a millisecond of
    every open.
    """
    box = st.popover(_("Share"), icon=":material/link:", type="tertiary", key="share", on_change="rerun")
    if box.open:
        with box:
            _draw_menu()


@fragment
def _draw_menu() -> None:
    address = link_state.view_address(omitted=(FIGURE,))
    if address:
        _draw_addresses(address)
    with show_problems():
        link_state.link_parameters(link_state.current_page(), strict=True)
    st.download_button(
        _("Save this view as a file"),
        data=link_state.save(),
        file_name="attention-view.json",
        mime="application/json",
        on_click="ignore",
        key="save-view",
    )
    uploaded = st.file_uploader(_("Open a saved view"), type="json", key="view-file")
    if uploaded is not None and st.session_state.get(_OPENED) != upload_id(uploaded):
        st.session_state[_OPENED] = upload_id(uploaded)
        with show_problems():
            page = link_state.open_view(uploaded.getvalue().decode("utf-8", "replace"))
            if page != link_state.current_page():
                st.switch_page(page_file(page))
            st.rerun(scope="app")


def _draw_addresses(address: str) -> None:
    """The link and the code that embeds it, each with a button that copies it."""
    code = embed_code(address, _("Attention, shown with attnviz"))
    _draw_embedding_note(address)
    presented = f"{address}{'&' if '?' in address else '?'}{PRESENT.name}=1"
    copy_buttons(
        "copy-view",
        {
            "link": (_("Copy link"), address),
            "presented": (_("Copy the presented link"), presented),
            "embed": (_("Copy embed code"), code),
        },
        failed=_("The browser did not allow it: select the text below and copy it."),
    )
    st.caption(_("This link opens the view as it is now."))
    st.code(address, language=None, wrap_lines=True)
    st.caption(_("This code shows it inside another page."))
    st.code(code, language="html", wrap_lines=True)


def _draw_embedding_note(address: str) -> None:
    """Draw what the code needs, before it is copied."""
    limit = embedding_note(address, link_state.public_address() is not None)
    if limit is not None:
        st.caption(translate_markdown(limit))


def copy_buttons(key: str, texts: Mapping[str, tuple[str, str]], failed: str) -> None:
    """A button for each of `texts`: its label and what it copies. `failed`: what to do where a browser refuses."""
    named = [{"name": name, "label": label, "text": text} for name, (label, text) in texts.items()]
    get_component("copy_text")(key=key, data={"texts": named, "labels": {"done": _("Copied."), "failed": failed}})


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


def embedding_note(address: str, reachable: bool) -> Message | None:
    """Why the code may show nothing on another page; None where any page may hold the view."""
    try:
        allowed = settings.current_settings().embed
    except Problem:
        allowed = ()
    if not allowed:
        return Message(
            "No other page may show this app yet, so the embed code shows nothing there: whoever runs it sets "
            "ATTNVIZ_EMBED first. A live HTML file needs no server."
        )
    if allowed == settings.THIS_MACHINE or (allowed == "anywhere" and not reachable):
        return Message(
            "This app answers at {host}, which other machines cannot reach: the embed code works on this machine only. "
            "A live HTML file needs no server.",
            {"host": urlsplit(address).hostname or address},
        )
    if allowed == "anywhere":
        return None
    return Message("Only these pages may show this app inside them: {pages}.", {"pages": MessageList(allowed)})


def figure_style(key: str) -> str:
    """CSS that hides all but the figure, a refusal that may explain its absence, and the link to the whole page.

    Empty for an invalid key. A figure's drawing stands right before the box of the line under it.
    """
    if not _KEY.fullmatch(key):
        return ""
    footer = f".st-key-{key}-under"
    visible = f":is({footer}, .st-key-{_BACK}, [data-testid=stAlertContainer])"
    drawing = f":has(+ [data-testid=stLayoutWrapper] > {footer})"
    return f"""
html[data-embedded]:root .stMainBlockContainer {{ padding: 0.75rem }}
html:root :is([data-testid=stSidebar], [data-testid=stHeader], [data-testid=stExpandSidebarButton]) {{ display: none }}
.stMainBlockContainer :is([data-testid=stElementContainer], [data-testid=stLayoutWrapper], [data-testid=stColumn])\
:not(:has({visible})):not({visible} *):not({drawing}):not({drawing} *) {{ display: none }}
"""


def begin_figures() -> None:
    """Before the page is drawn: no figure of it stands yet."""
    app_session()[_FIGURE_KEYS] = set()


def note_figure(key: str) -> None:
    """Note that the page has a figure of this key."""
    app_session().setdefault(_FIGURE_KEYS, set()).add(key)


def end_figures() -> None:
    """After the page is drawn: the way to the whole page, or a sentence if it has no such figure."""
    key, figure_keys = embedded_figure(), app_session()[_FIGURE_KEYS]
    if not key:
        return
    with st.container(key=_BACK):
        if key not in figure_keys:
            known = MessageList(sorted(figure_keys) or (Message("none"),))
            show_problem(
                Problem("This page shows no figure called {figure}; just now it has: {known}.", figure=key, known=known)
            )
        address = link_state.view_address(omitted=(FIGURE,))
        if address:
            st.markdown(_("[Open in attnviz]({address})").format(address=address))


def figure_code_button(key: str, title: str) -> None:
    """A button that copies the code which shows this one figure on another page."""
    address = link_state.view_address(omitted=(FIGURE,))
    if not address:
        return
    _draw_embedding_note(address)
    copy_buttons(
        f"{key}-embed",
        {"embed-figure": (_("Copy embed code of this figure"), embed_code(address, title, {FIGURE.name: key}))},
        failed=_("The browser did not allow it: use Share, which shows the code."),
    )
