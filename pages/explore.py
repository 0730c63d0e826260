"""The explorer: a sentence, every head of a model, and what changing one does."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.explorer import head_panel, panels, request_form
from attnviz.ui.shared import guard, model_cache, spoken
from attnviz.words import _

st.title(_("Explore attention"), anchor=False)


@st.fragment
def picture(request: request_form.Request) -> None:
    """The heads and every panel about them: choosing a head runs this, and never the model."""
    if st.session_state.pop("whole_page", False):
        st.rerun(scope="app")
    with guard():
        reading = model_cache.reading(request)
        head_panel.explore(reading, panels.below)


with guard():
    request = request_form.ask()
    reading = model_cache.reading(request)
    for notice in reading.notices:
        st.info(spoken(notice))
    picture(request)
