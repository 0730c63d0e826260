"""Attention over pictures: where each patch looks, what a model says, and what it says when patches are hidden."""

import streamlit as st

from attnviz.app import page_parts
from attnviz.app.links import link_state
from attnviz.app.panel import fragment, show_problems
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures import choices
from attnviz.pages.pictures.page_entry import PAGE
from attnviz.pages.pictures.panels import picture as picture_panel
from attnviz.pages.pictures.panels import picture_input
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture


@fragment
def draw_view(loaded: LoadedModel, picture: ChosenPicture) -> None:
    """Everything about one picture: a gesture in it reruns only this."""
    with show_problems():
        picture_panel.draw(loaded, picture)


def page() -> None:
    """Draw the page."""
    page_parts.draw_heading(PAGE)
    asked = st.container() if link_state.value(choices.SOURCE) == "draw" else None  # the pen stays where it is
    with st.container(key="pic-place"):
        place = page_parts.main_picture()
    left, right = (asked or st).columns([1.4, 1], vertical_alignment="top")
    loaded, picture = None, None
    with right, show_problems():
        loaded = picture_input.ask_model()
    with left, st.container(key="pic-asked"), show_problems():
        picture = None if loaded is None else picture_input.draw_form(loaded)
    if loaded is not None and picture is not None:
        with place, st.container(key="canvas-of-heads"):
            draw_view(loaded, picture)


if __name__ == "__main__":  # Streamlit runs this file
    page()
