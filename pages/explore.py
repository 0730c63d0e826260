"""The explorer: a sentence, every head of a model, and what changing one does."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.explorer import head_panel, panels, request_form
from attnviz.ui.shared import guard, model_cache, page_heading, spoken
from attnviz.words import _

page_heading(_("Explore attention"))


@st.fragment
def picture(request: request_form.Request) -> None:
    """The heads and every panel about them: choosing a head runs this, and the model only for what is new."""
    with guard():
        run = model_cache.model_run(request)
        for notice in run.notices:
            st.info(spoken(notice))
        head_panel.explore(run, panels.below)


with guard():
    asked = request_form.ask()
    if asked is not None:
        picture(asked)
