"""One figure of a page inside another page: with `embed=true&figure=KEY` the rest of the page is not shown.

The page runs as always, so that the figure answers as it does in the app. A style, which the server puts into the page,
hides all but the figure: what draws it, and the line under it with its sentence and its menu.
"""

from __future__ import annotations

import re

import streamlit as st

from attnviz.app.guarding import show_problem
from attnviz.app.links import page_address
from attnviz.app.presenting import FIGURE, PRESENT, figure_alone
from attnviz.app.share_menu import copy_buttons, embed_code
from attnviz.base.message import Message, Problem, Several
from attnviz.base.words import _

_DRAWN = "_figures_drawn"  #: the keys of the figures that this run of the page has drawn
_KEY = re.compile(r"[A-Za-z0-9_-]{1,80}")  #: what a style sheet takes as it is

_BACK = "embedded-figure-back"


def style(key: str) -> str:
    """What leaves of the page only the figure, a refusal that may be why there is none, and the way to the whole page.

    Empty for what is no key. What draws a figure stands right before the box of the line under it.
    """
    if not _KEY.fullmatch(key):
        return ""
    under = f".st-key-{key}-under"
    kept = f":is({under}, .st-key-{_BACK}, [data-testid=stAlertContainer])"
    drawing = f":has(+ [data-testid=stLayoutWrapper] > {under})"
    return f"""
html[data-embedded]:root .stMainBlockContainer {{ padding: 0.75rem }}
html:root :is([data-testid=stSidebar], [data-testid=stHeader], [data-testid=stExpandSidebarButton]) {{ display: none }}
.stMainBlockContainer :is([data-testid=stElementContainer], [data-testid=stLayoutWrapper], [data-testid=stColumn])\
:not(:has({kept})):not({kept} *):not({drawing}):not({drawing} *) {{ display: none }}
"""


def begin() -> None:
    """Before the page is drawn: no figure of it stands yet."""
    st.session_state[_DRAWN] = set()


def drawn(key: str) -> None:
    """Note that the page has a figure of this key."""
    st.session_state.setdefault(_DRAWN, set()).add(key)


def end() -> None:
    """After the page is drawn: the way to the whole page, or a sentence if it has no such figure."""
    key, there = figure_alone(), st.session_state.get(_DRAWN, set())
    if not key:
        return
    with st.container(key=_BACK):
        if key not in there:
            known = Several(sorted(there) or (Message("none"),))
            show_problem(
                Problem("This page shows no figure called {figure}; just now it has: {known}.", figure=key, known=known)
            )
        address = page_address.address(without=(FIGURE,))
        if address:
            st.markdown(_("[Open in attnviz]({address})").format(address=address))


def copy_button(key: str, title: str) -> None:
    """A button that copies the code which shows this one figure on another page."""
    address = page_address.address(without=(FIGURE, PRESENT))
    if not address:
        return
    code = embed_code(address, title, {FIGURE.name: key})
    copy_buttons(
        f"{key}-embed",
        {"embed-figure": (_("Copy embed code of this figure"), code)},
        failed=_("The browser did not allow it: use Share, which shows the code."),
    )
