"""Who may look at whom: a mask from rules and paint, its effect on attention, and how masks go wrong."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.masks import mask_lab
from attnviz.ui.masks import (
    far_panel,
    layers_panel,
    leak_panel,
    mask_choices,
    mask_code_panel,
    rules_form,
    sentence_words,
    traps_panel,
    workbench,
)
from attnviz.ui.shared import guard, link_state, page_heading, page_texts, presenting, widgets
from attnviz.words import _


def ask() -> tuple[tuple[str, ...], int]:
    """Draw the sentence and the seed; returns the words, and the seed of their random vectors."""
    text, number = st.columns([5, 1], gap="medium", vertical_alignment="bottom")
    with text:
        sentence = widgets.text(mask_choices.SENTENCE, _("Your sentence"))
    with number:
        seed = widgets.number(mask_choices.SEED, _("Vectors: random, seed"), step=1)
    return sentence_words.words(sentence), seed


@st.fragment
def lab(words: tuple[str, ...], seed: int) -> None:
    """Draw everything below the sentence; painting a cell reruns only this fragment."""
    with guard():
        config = mask_lab.Config(words, seed, rules_form.strip(), link_state.value(mask_choices.PAINT))
        with st.container(key="canvas-of-mask"):
            result = workbench.show_grid(config)
        views = {
            "layers": _("After n layers"),
            "far": _("At 4,096 words"),
            "traps": _("Traps"),
            "training": _("Training"),
        }
        with st.container(key="section-begins"), guard():
            view = presenting.section_of(mask_choices.VIEW, views, _("Look closer"))
            if view == "layers":
                layers_panel.panel(result)
            elif view == "far":
                far_panel.panel(config)
            elif view == "traps":
                traps_panel.panel(words, seed)
            else:
                leak_panel.panel(words, seed)
        if presenting.presenting():
            return
        with guard():
            mask_code_panel.panel(config)


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("masks")
    page_heading(title, about, ("mask", "causal_mask", "padding", "window", "next_token"))
    with guard():
        lab(*ask())


if __name__ == "__main__":  # Streamlit runs this file
    page()
