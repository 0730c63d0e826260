"""The explorer: a sentence, every head of a model, and what changes when a head is changed."""

from __future__ import annotations

import streamlit as st

from attnviz.app.cache import model_cache
from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.app.text import spoken
from attnviz.pages.explore.page_entry import PAGE
from attnviz.pages.explore.panels import head as head_panel
from attnviz.pages.explore.panels import panels, request_form


@fragment
def picture(request: request_form.Request) -> None:
    """Draw the heads and every panel about them.

    Choosing a head reruns only this; the model runs only for new input.
    """
    with guard():
        run = model_cache.model_run(request)
        for notice in run.notices:
            st.info(spoken(notice))
        with st.container(key="canvas-of-heads"):
            head_panel.explore(run, panels.below)


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    with guard():
        request_form.ask(picture)


if __name__ == "__main__":  # Streamlit runs this file
    page()
