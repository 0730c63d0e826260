"""The page Glossary: terms of attention in two sentences each, with a link to a page that shows it."""

from collections.abc import Sequence

import streamlit as st

from attnviz.app import glossary_terms, page_parts, widgets
from attnviz.app.panel import show_problems
from attnviz.app.text import escape_markdown
from attnviz.base.words import _
from attnviz.pages.glossary import choices
from attnviz.pages.glossary.page_entry import PAGE

TOGETHER = 5  #: terms in a card


def page() -> None:
    page_parts.draw_heading(PAGE)
    st.markdown(
        _("The words of attention, in the order in which you meet them. Each has a button to the page that shows it.")
    )
    with show_problems():
        query = widgets.text_box(choices.FIND, _("Find a word"), live=True, placeholder=_("for example: cache")).strip()
        terms = [
            term
            for term in glossary_terms.TERMS.values()
            if query.casefold() in f"{_(term.name)} {glossary_terms.explain_term(term)}".casefold()
        ]
        if not terms:
            count = len(glossary_terms.TERMS)
            st.info(_("None of the {n} terms mentions “{what}”.").format(n=count, what=escape_markdown(query)))
        with st.container(key="terms-of-glossary"):  # two beside each other where there is room: see the style
            for at in range(0, len(terms), TOGETHER):
                _card(terms[at : at + TOGETHER])


def _card(terms: Sequence[glossary_terms.GlossaryTerm]) -> None:
    """Draw a card of some terms with their links; few elements a term, so that the page opens fast."""
    named = {term.id: escape_markdown(_(term.name)) for term in terms}
    with st.container(border=True, key=f"glossary-{terms[0].id}"):
        st.markdown("\n\n".join(f"**{named[term.id]}**  \n{glossary_terms.explain_term(term)}" for term in terms))
        chosen = st.pills(_("See it"), list(named), format_func=named.__getitem__, key=f"see-{terms[0].id}")
        if chosen is not None:
            glossary_terms.open_example(glossary_terms.TERMS[chosen].page, glossary_terms.TERMS[chosen].parameters)


if __name__ == "__main__":  # Streamlit runs this file
    page()
