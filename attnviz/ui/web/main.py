"""The main script: page settings, language, navigation, and then the page that the visitor opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.ui.canvas import remember_page
from attnviz.ui.shared import (
    EMBEDDED_STYLE,
    MENU_WIDTH,
    PAGE_STYLE,
    embedded_figure,
    follow,
    language_choice,
    presenting,
    say_refusals,
    say_what_is_gone,
    settle,
)
from attnviz.ui.web import declared, navigation
from attnviz.words import set_language_source, speaking

assert declared.DECLARED  # the import is needed: links are read from what the pages declare
set_language_source(language_choice.asked)

# inside another page there is room for the view only; its visitors may still open the menu
side: Any = "collapsed" if st.context.is_embedded else MENU_WIDTH
st.set_page_config(page_title="attnviz", page_icon="👁️", layout="wide", initial_sidebar_state=side)

st.logo(Path(__file__).with_name("logo.svg"), size="large")

say_what_is_gone()
st.html(PAGE_STYLE + EMBEDDED_STYLE if st.context.is_embedded else PAGE_STYLE)

with speaking(language_choice.coming()):
    page = st.navigation(navigation.pages(), position="hidden")
remember_page(page.url_path)
entered = follow(page.url_path or "home")
navigation.menu()
with st.sidebar:
    language_choice.control()
presenting.begin()
embedded_figure.begin()
say_refusals()
page.run()
presenting.end()
embedded_figure.end()
if entered:
    settle()
