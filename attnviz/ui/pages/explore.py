"""The explorer: a sentence, every head of a model, and what changes when a head is changed."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.explorer import head_panel, panels, request_form
from attnviz.ui.shared import guard, model_cache, page_heading, spoken
from attnviz.words import _


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
    page_heading(
        _("Explore attention"),
        _(
            "A trained model reads your sentence with many heads, each a pattern of its own of who looks at whom. "
            "Every small square is one head; click one to see its weights, and change its mask or its scale."
        ),
        ("token", "head", "layer", "weight", "causal_mask", "sink", "next_token"),
        low=True,
    )
    with guard():
        request_form.ask(picture)


if __name__ == "__main__":  # Streamlit runs this file
    page()
