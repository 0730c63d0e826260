"""Who may look at whom: a mask from rules and paint, its effect on attention, and how masks go wrong."""

from __future__ import annotations

import streamlit as st

from attnviz.app import presenting, widgets
from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.links import link_state
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _
from attnviz.pages.masks import choices
from attnviz.pages.masks.maths import mask_lab
from attnviz.pages.masks.page_entry import PAGE
from attnviz.pages.masks.panels import leak, mask_code, workbench
from attnviz.pages.masks.panels.views import far_panel, layers_panel, traps_panel


def ask() -> tuple[tuple[str, ...], int]:
    """Draw the sentence and the seed; returns the words, and the seed of their random vectors."""
    text, number = st.columns([5, 1], gap="medium", vertical_alignment="bottom")
    with text:
        sentence = widgets.text(choices.SENTENCE, _("Your sentence"))
    with number:
        seed = widgets.number(choices.SEED, _("Vectors: random, seed"), step=1)
    return workbench.words(sentence), seed


@fragment
def lab(words: tuple[str, ...], seed: int) -> None:
    """Draw everything below the sentence; painting a cell reruns only this fragment."""
    with guard():
        config = mask_lab.Config(words, seed, workbench.strip(), link_state.value(choices.PAINT))
        with st.container(key="canvas-of-mask"):
            result = workbench.show_grid(config)
        views = {
            "layers": _("After n layers"),
            "far": _("At 4,096 words"),
            "traps": _("Traps"),
            "training": _("Training"),
        }
        with st.container(key="section-begins"), guard():
            view = presenting.section_of(choices.VIEW, views, _("Look closer"))
            if view == "layers":
                layers_panel(result)
            elif view == "far":
                far_panel(config)
            elif view == "traps":
                traps_panel(words, seed)
            else:
                leak.panel(words, seed)
        if presenting.presenting():
            return
        with guard():
            mask_code.panel(config)


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    with guard():
        lab(*ask())


if __name__ == "__main__":  # Streamlit runs this file
    page()
