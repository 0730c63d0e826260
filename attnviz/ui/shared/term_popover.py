"""A term that explains itself: a click or a touch opens its two sentences and the way to where it can be seen."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.glossary import term_numbers
from attnviz.ui.shared import link_state
from attnviz.ui.shared.glossary_terms import TERMS, GlossaryTerm
from attnviz.ui.shared.link_reading import chosen_by
from attnviz.ui.shared.page_files import file_of
from attnviz.words import _


def explanation(term: GlossaryTerm) -> str:
    """The two sentences in the visitor's language, with their numbers."""
    return _(term.text).format(**term_numbers.numbers())


def term_popover(id: str, key: str = "") -> None:
    """A small button with the term on it; `key` tells two of the same term on one page apart."""
    term = TERMS[id]
    with st.popover(_(term.name), icon=":material/help:", type="tertiary", key=f"term-{id}{key}", width="content"):
        st.markdown(explanation(term))
        see_button(term, key)


def terms(*ids: str, key: str = "", letters: bool = False) -> None:
    """A line of terms, with the legend of the letters in shapes behind them."""
    with st.container(horizontal=True, gap="small", key=f"terms-{ids[0]}{key}"):
        for id in ids:
            term_popover(id, key)
        if letters:
            letters_popover(key)


def letters_popover(key: str = "") -> None:
    """The one legend of the letters in shapes, on every page."""
    with st.popover(_("B, H, Q, K, D …"), icon=":material/abc:", type="tertiary", key=f"letters{key}", width="content"):
        meanings = {
            "B": _("sentences in a batch"),
            "H": _("query heads"),
            "G": _("key/value heads (as many as query heads in MHA, fewer in GQA, one in MQA)"),
            "Q": _("query positions: tokens that look"),
            "K": _("key positions: tokens that are looked at"),
            "D": _("width of one head’s queries and keys, d_k"),
            "Dv": _("width of one head’s values"),
            "M": _("width of the model’s vectors"),
        }
        st.markdown("\n".join(f"- **{letter}** {meaning}" for letter, meaning in meanings.items()))
        st.markdown(
            _(
                "In a shape such as (B, H, Q, D) the upright letters are lengths. The matrices are slanted: $Q$ holds "
                "the queries, $K$ the keys and $V$ the values, so $Q$ has Q rows and $K$ has K."
            )
        )


def see_button(term: GlossaryTerm, key: str = "") -> None:
    """A button that opens the page where the term can be seen, set so that it shows it."""
    if st.button(_("See it"), icon=":material/arrow_forward:", type="tertiary", key=f"see-{term.id}{key}"):
        for choice, chosen in chosen_by(term.page, term.seen).items():
            link_state.keep(choice, chosen)
        st.switch_page(file_of(term.page))
