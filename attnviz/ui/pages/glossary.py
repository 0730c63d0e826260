"""The words of attention, each in two sentences, with the way to where it can be seen."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.glossary import glossary_panel
from attnviz.ui.shared import guard, page_heading, page_texts
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    page_heading(*page_texts.of("glossary"))
    st.markdown(
        _("The words of attention in the order in which one meets them. Each has a button to the page that shows it.")
    )
    with guard():
        glossary_panel.panel()


if __name__ == "__main__":  # Streamlit runs this file
    page()
