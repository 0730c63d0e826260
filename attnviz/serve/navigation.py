"""The menu, and the cards on the start page."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import streamlit as st

from attnviz.app.links.link_state import link_parameters
from attnviz.app.page_entry import Page, file_of
from attnviz.base.words import _, languages, tongue
from attnviz.serve.page_table import PAGES

ABREAST = 3  #: cards in a page of the start page, where there is room
LINKS = "page_links"  #: where a session keeps the parameters of every page's link, as of this run


def pages() -> dict[str, list[Any]]:
    """Streamlit's pages by group, titled in the visitor's language; each run has its own, which it may run once."""
    groups: dict[str, list[Any]] = {}
    for page in PAGES:
        groups.setdefault(_(page.group), []).append(copy.copy(_made(tongue())[page.name]))
    return groups


@lru_cache(maxsize=len(languages()))
def _made(_language: str) -> Mapping[str, Any]:
    """Each page by its name, made once for a language: Streamlit looks for its file, folder by folder, each time."""
    return {
        page.name: st.Page(
            file_of(page.name),
            title=_(page.title),
            icon=page.icon,
            url_path=None if page.is_home else page.name,
            default=page.is_home,
        )
        for page in PAGES
    }


def menu() -> None:
    """Draw the pages in the sidebar. Each link opens its page as it was left, in this tab or in a new one."""
    st.session_state[LINKS] = {page.name: link_parameters(page.name) for page in PAGES}  # packed once a run
    with st.sidebar:
        for at, group in enumerate(dict.fromkeys(page.group for page in PAGES)):
            with st.container(gap=None, key=f"menu-of-{at}"):
                st.caption(_(group))
                for page in PAGES:
                    if page.group == group:
                        _link(page, _(page.title))


def cards() -> None:
    """Where to go from the start page, in the order in which one learns, each with its question. After `menu`."""
    st.markdown("**" + _("Where to go from here, in the order in which one learns") + "**")
    rows = [page for page in PAGES if not page.is_home]
    for at in range(0, len(rows), ABREAST):
        for column, page in zip(st.columns(ABREAST, gap="small"), rows[at : at + ABREAST], strict=False):
            with column, st.container(border=True, gap="xxsmall", height="stretch"):
                _link(page, f"**{_(page.title)}**")
                st.caption(_(page.question))


def _link(page: Page, label: str) -> None:
    made, parameters = _made(tongue())[page.name], st.session_state[LINKS][page.name]
    st.page_link(made, label=label, icon=page.icon, query_params=parameters, width="stretch")
