"""The words of attention, each in two sentences, with the way to where it can be seen."""

import streamlit as st

from attnviz.app import glossary_terms, page_parts, term_popover, widgets
from attnviz.app.panel import guard
from attnviz.app.text import plain
from attnviz.base.words import _
from attnviz.pages.glossary import choices
from attnviz.pages.glossary.page_entry import PAGE


def page() -> None:
    page_parts.page_heading(PAGE)
    st.markdown(
        _("The words of attention in the order in which one meets them. Each has a button to the page that shows it.")
    )
    with guard():
        wanted = widgets.text(choices.FIND, _("Find a word"), live=True, placeholder=_("for example: cache")).strip()
        terms = [
            term
            for term in glossary_terms.TERMS.values()
            if wanted.casefold() in f"{_(term.name)} {term_popover.explanation(term)}".casefold()
        ]
        if not terms:
            count = len(glossary_terms.TERMS)
            st.info(_("None of the {n} terms speaks of “{what}”.").format(n=count, what=plain(wanted)))
        with st.container(key="terms-of-glossary"):  # two beside each other where there is room: see the style
            for term in terms:
                _entry(term)


def _entry(term: glossary_terms.GlossaryTerm) -> None:
    with st.container(border=True, gap="xxsmall", key=f"glossary-{term.id}"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"**{plain(_(term.name))}**", width="content")
            term_popover.see_button(term)
        st.markdown(term_popover.explanation(term))


if __name__ == "__main__":  # Streamlit runs this file
    page()
