"""The explorer: a sentence, every head of a model, and what changing one does."""

from __future__ import annotations

import streamlit as st

from attnviz.ui import readings
from attnviz.ui.explore import ask, heads, panels
from attnviz.ui.guard import guard
from attnviz.ui.text import spoken
from attnviz.words import _

st.title(_("Explore attention"), anchor=False)


@st.fragment
def picture(request: ask.Request) -> None:
    """The heads and every panel about them: choosing a head runs this, and never the model."""
    if st.session_state.pop("whole_page", False):
        st.rerun(scope="app")
    with guard():
        reading = readings.reading(request)
        heads.explore(reading, panels.below)


with guard():
    request = ask.ask()
    reading = readings.reading(request)
    for notice in reading.notices:
        st.info(spoken(notice))
    picture(request)
