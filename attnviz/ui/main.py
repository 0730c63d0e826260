"""The main script: page settings, language, navigation, and then the page that was asked for."""

from __future__ import annotations

import streamlit as st

from attnviz.ui import navigation
from attnviz.words import set_language_source

set_language_source(lambda: st.context.locale)

st.set_page_config(page_title="attnviz", page_icon="👁️", layout="wide", initial_sidebar_state=220)

# Streamlit leaves 6rem above the first line: more than a sentence of the page.
st.html("<style>.stMainBlockContainer{padding:2.75rem 3rem 4rem}</style>")

st.navigation(navigation.pages()).run()
