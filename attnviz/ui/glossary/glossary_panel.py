"""All terms, or those that hold what the visitor looks for."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.glossary import glossary_choices
from attnviz.ui.shared import glossary_terms, plain, term_popover, widgets
from attnviz.words import _


def panel() -> None:
    looked_for = widgets.text(
        glossary_choices.FIND, _("Find a word"), live=True, placeholder=_("for example: cache")
    ).strip()
    found = [term for term in glossary_terms.TERMS.values() if _holds(term, looked_for)]
    if not found:
        st.info(
            _("None of the {n} terms speaks of “{what}”.").format(n=len(glossary_terms.TERMS), what=plain(looked_for))
        )
    with st.container(key="terms-of-glossary"):  # two beside each other where there is room: the style of all pages
        for term in found:
            _entry(term)


def _entry(term: glossary_terms.GlossaryTerm) -> None:
    with st.container(border=True, gap="xxsmall", key=f"glossary-{term.id}"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{plain(_(term.name))}**", width="content")
            term_popover.see_button(term)
        st.markdown(term_popover.explanation(term))


def _holds(term: glossary_terms.GlossaryTerm, looked_for: str) -> bool:
    return looked_for.casefold() in f"{_(term.name)} {term_popover.explanation(term)}".casefold()
