"""The main script: page settings, language, navigation, and then the page that was asked for."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from attnviz.ui.canvas import remember_page
from attnviz.ui.shared import follow, say_refusals
from attnviz.ui.web import declared, navigation
from attnviz.words import set_language_source

assert declared.DECLARED  # links are read by what the pages declare
set_language_source(lambda: st.context.locale)

st.set_page_config(page_title="attnviz", page_icon="👁️", layout="wide", initial_sidebar_state=220)

st.logo(Path(__file__).with_name("logo.svg"), size="large")

# Streamlit leaves 6rem above the first line, and lets wide formulas run off a phone.
STYLE = """<style>
.stMainBlockContainer { padding: 2.75rem clamp(1rem, 3.5vw, 3rem) 4rem }
.katex-display { overflow-x: auto; overflow-y: hidden }
</style>"""
st.html(STYLE)

page = st.navigation(navigation.pages(), position="hidden")
remember_page(page.url_path)
follow(page.url_path or "home")
navigation.menu()
say_refusals()
page.run()
