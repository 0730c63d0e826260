"""The main script: page settings, language, navigation, and then the page that was asked for."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from attnviz.ui.building import building_choices as _building  # noqa: F401
from attnviz.ui.home import home_choices as _home  # noqa: F401  # declares what the page's links hold
from attnviz.ui.masks import mask_choices as _masks  # noqa: F401
from attnviz.ui.scaling import scaling_choices as _scaling  # noqa: F401
from attnviz.ui.shared import entering, follow, say_refusals
from attnviz.ui.sharing import sharing_choices as _sharing  # noqa: F401
from attnviz.ui.web import navigation
from attnviz.words import set_language_source

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
follow(page.url_path or "home")
entering(page.url_path)
navigation.menu()
say_refusals()
try:
    page.run()
finally:
    st.session_state["_entered"] = False
