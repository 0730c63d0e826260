"""In which language a visitor reads: the browser's, until another one is chosen, which then stays in every link.

The language is a choice of every page like the presentation mode: `lang=zh` in a link. It changes words alone, never
what a link shows. A browser that asks for any kind of Chinese gets the one that is here, in simplified characters.
"""

from __future__ import annotations

import streamlit as st

from attnviz.app import widgets
from attnviz.app.links import link_state
from attnviz.app.mends import streamlit_adapter
from attnviz.app.presenting import PAGE
from attnviz.base.words import _, languages, spoken

LANG = PAGE.one_of("lang", ("", *languages()), of_reader=True)  #: "": the browser's


def asked() -> str | None:
    """The language asked for, at any moment; None outside of a visitor's run."""
    if not streamlit_adapter.in_a_run():
        return None
    return link_state.value(LANG) or streamlit_adapter.browsers_language()


def coming() -> str | None:
    """The same before the link of this run is read, for the names of the pages, which are needed by then."""
    return link_state.arriving(LANG) or st.context.locale


def control() -> None:
    """Draw the languages to choose from, each by its own name, so that one is found in a page that one cannot read."""
    widgets.one_of(LANG, _("Language"), languages(), usual=spoken(st.context.locale), label_visibility="collapsed")
