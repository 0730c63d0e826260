"""Who may look at whom: a mask from rules and paint, what follows from it, and how it goes wrong."""

from __future__ import annotations

import streamlit as st

from attnviz.experiments.masks import mask_lab
from attnviz.ui.masks import (
    far_panel,
    layers_panel,
    leak_panel,
    mask_code_panel,
    mask_state,
    rules_form,
    traps_panel,
    workbench,
)
from attnviz.ui.shared import choice, guard
from attnviz.words import _

SENTENCE = "The cat sat on the mat because it was tired"  # in every language: a link must show the same

st.title(_("Who may look at whom"), anchor=False)


def ask() -> tuple[tuple[str, ...], int]:
    """The sentence as words, and the seed of its random vectors."""
    text, number = st.columns([5, 1], gap="medium", vertical_alignment="bottom")
    with text:
        st.text_input(
            _("Your sentence"),
            value=SENTENCE,
            max_chars=3000,
            key="m_text",
            bind="query-params",
            persist_state="session",
        )
    with number:
        seed = st.number_input(
            _("Vectors: random, seed"), 0, 9999, 0, key="m_seed", bind="query-params", persist_state="session"
        )
    return mask_state.words(), int(seed or 0)


@st.fragment
def lab(words: tuple[str, ...], seed: int) -> None:
    """Everything below the sentence: painting a cell runs this and nothing else."""
    with guard():
        config = mask_lab.Config(words, seed, rules_form.strip(), mask_state.paint())
        result = workbench.show_grid(config)
        views = {
            "layers": _("After n layers"),
            "far": _("At 4,096 words"),
            "traps": _("Traps"),
            "training": _("Training"),
        }
        view = choice(_("Look closer"), views, "m_view", label_visibility="collapsed")
        with guard():
            if view == "layers":
                layers_panel.panel(result)
            elif view == "far":
                far_panel.panel(config)
            elif view == "traps":
                traps_panel.panel(words, seed)
            else:
                leak_panel.panel(words, seed)
        with guard():
            mask_code_panel.panel(config)


with guard():
    lab(*ask())
