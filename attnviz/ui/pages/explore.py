"""The explorer: a sentence, every head of a model, and what changes when a head is changed."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.explorer import head_panel, panels, request_form
from attnviz.ui.shared import guard, model_cache, page_heading, page_texts, spoken


@st.fragment
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
    title, about = page_texts.of("explore")
    page_heading(title, about, ("token", "head", "layer", "weight", "causal_mask", "sink", "next_token"), low=True)
    with guard():
        request_form.ask(picture)


if __name__ == "__main__":  # Streamlit runs this file
    page()
