"""The menu with the language below it, and the cards on the start page.

A visitor reads in the browser's language until another one is chosen, which then stays in every link: `lang=zh`. It
changes words alone, never what a link shows. A browser that asks for any kind of Chinese gets the one that is here, in
simplified characters.
"""

import copy
from collections.abc import Mapping
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import streamlit as st

from attnviz.app import presenting, widgets
from attnviz.app.links.link_state import has_choices, link_parameters, value, value_before_sync
from attnviz.app.page_entry import Page, page_file
from attnviz.app.workarounds.streamlit_adapter import app_session, browser_language, run_of_this_thread
from attnviz.base.words import N_, _, current_language, languages, supported_language
from attnviz.serve.page_table import PAGES

LANG = presenting.PAGE.one_of("lang", ("", *languages()), is_personal=True, label=N_("Language"))  #: "": the browser's
LINKS = "page_links"  #: where a session keeps the parameters of every page's link, as of this run


def streamlit_pages() -> dict[str, list[Any]]:
    """Streamlit's pages by group, titled in the visitor's language; each run has its own, which it may run once."""
    groups: dict[str, list[Any]] = {}
    for page in PAGES:
        groups.setdefault(_(page.group), []).append(copy.copy(_build_pages(current_language())[page.name]))
    return groups


@lru_cache(maxsize=len(languages()))
def _build_pages(_language: str) -> Mapping[str, Any]:
    """Each page by its name, made once for a language: Streamlit looks for its file, folder by folder, each time."""
    return {
        page.name: st.Page(
            page_file(page.name),
            title=_(page.title),
            icon=page.icon,
            url_path=None if page.is_home else page.name,
            default=page.is_home,
        )
        for page in PAGES
    }


def requested_language() -> str | None:
    """The language asked for, at any moment; None outside of a visitor's run."""
    return None if run_of_this_thread() is None else value(LANG) or browser_language()


def requested_language_before_sync() -> str | None:
    """The requested language before this run's link is read: the names of the pages need it."""
    return value_before_sync(LANG) or st.context.locale


def links_carry_choices() -> bool:
    """Whether links carry what was chosen. Until something is, Streamlit's own menu shows the same in one message."""
    return bool(st.query_params) or has_choices()


def draw_menu() -> None:
    """Draw the pages in the sidebar, and the languages below. Each link opens its page as it was left, in any tab."""
    links = {page.name: link_parameters(page.name) for page in PAGES} if links_carry_choices() else {}
    app_session()[LINKS] = links  # packed once a run
    with st.sidebar:
        with st.container(gap=None, key="menu") if links else nullcontext():
            for group in dict.fromkeys(page.group for page in PAGES) if links else ():
                st.caption(_(group))
                for page in (entry for entry in PAGES if entry.group == group):
                    _draw_link(page, _(page.title))
        # each language by its own name, so that one is found in a page that one cannot read
        widgets.select_one(
            LANG, _("Language"), languages(), usual=supported_language(st.context.locale), label_visibility="collapsed"
        )


#: where to go from the start page; all other pages are in the menu
DOORS = ("lessons", "explore", "sharing")


def draw_cards() -> None:
    """Where to go from the start page, each with its question. After `menu`."""
    with st.container(horizontal=True, gap="small", key="cards"):
        for page in (entry for entry in PAGES if entry.name in DOORS):
            _draw_link(page, f"**{_(page.title)}** :small[{_(page.question)}]")


def _draw_link(page: Page, label: str) -> None:
    streamlit_page, parameters = _build_pages(current_language())[page.name], app_session()[LINKS].get(page.name)
    st.page_link(streamlit_page, label=label, icon=page.icon, query_params=parameters, width="stretch")
