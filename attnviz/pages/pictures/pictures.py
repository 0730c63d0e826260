"""The page Pictures: where each patch attends, and what a model answers with and without hidden patches."""

from dataclasses import replace

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
def draw_view(loaded: LoadedModel, picture: ChosenPicture, source: str) -> None:
    """Draw everything about one picture, as a fragment: a change in it reruns only this."""
    with show_problems():
        if link_state.value(choices.SOURCE) != source:
            st.rerun(scope="app")  # a pen on the picture chose another, and the form stands outside
        if source == "draw":  # the pen goes on while only this runs
            picture = replace(
                picture_input.drawn_picture(picture_input.count_digits(loaded) or 1), question=picture.question
            )
        picture_panel.draw(loaded, picture)


def page() -> None:
    """Draw the page."""
    page_parts.draw_heading(PAGE)
    with st.container(key="pic-place"):
        picture_area = page_parts.main_picture()
    left, right = st.columns([1.4, 1], vertical_alignment="top")
    loaded, picture = None, None
    with right, show_problems():
        loaded = picture_input.ask_model()
    with left, st.container(key="pic-asked"), show_problems():
        picture = None if loaded is None else picture_input.draw_form(loaded)
    if loaded is not None and picture is not None:
        with picture_area, st.container(key="canvas-of-heads"):
            draw_view(loaded, picture, link_state.value(choices.SOURCE))


if __name__ == "__main__":  # Streamlit runs this file
    page()
