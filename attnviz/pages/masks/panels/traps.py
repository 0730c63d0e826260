"""Mistakes that mostly leave all shapes right: wrong code, right code, and the difference in this sentence."""

from __future__ import annotations

import streamlit as st

from attnviz.app import trap_view, widgets
from attnviz.base.words import _, say
from attnviz.pages.masks import choices
from attnviz.pages.masks.maths import traps
from attnviz.runs.word_vectors import sentence


@st.cache_resource(max_entries=64, show_spinner=False)
def computed(trap: str, words: tuple[str, ...], seed: int) -> traps.Outcome:
    return traps.run(trap, sentence(words, seed))


def panel(words: tuple[str, ...], seed: int) -> None:
    """Draw one trap, computed live on the sentence above."""
    titles = {trap.id: f"{number}. {say(trap.title)}" for number, trap in enumerate(traps.TRAPS.values(), start=1)}
    picked, measured = st.columns([2, 3], gap="medium")
    with picked:
        trap = traps.TRAPS[widgets.one_of(choices.TRAP, _("Trap"), titles, style="select")]
    outcome = computed(trap.id, words, seed)
    with measured:
        trap_view.largest_difference(outcome)
    trap_view.draw(trap, outcome, "m-trap")
    _all(words, seed)
    trap_view.imports("masks-imports")


def _all(words: tuple[str, ...], seed: int) -> None:
    """Draw a table of all traps and the error that each makes in this sentence."""
    with st.expander(_("All traps, in your sentence")):
        difference = _("largest difference of a weight")
        st.dataframe(
            {
                _("trap"): [say(trap.title) for trap in traps.TRAPS.values()],
                difference: [computed(name, words, seed).largest for name in traps.TRAPS],
            },
            column_config={difference: st.column_config.ProgressColumn(min_value=0, max_value=1, format="%.3f")},
            hide_index=True,
            height="content",
        )
