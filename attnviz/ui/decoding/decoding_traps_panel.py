"""Section 6: three mistakes with a cache, live in the visitor's sentence."""

from __future__ import annotations

import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.decoding import cache_traps
from attnviz.experiments.masks import traps
from attnviz.experiments.word_vectors import LONGEST, sentence
from attnviz.ui.decoding import decoding_choices as choices
from attnviz.ui.masks import traps_panel
from attnviz.ui.shared import snippet, widgets
from attnviz.word_boundaries import split
from attnviz.words import _, say


@st.cache_resource(max_entries=64, show_spinner=False)
def computed(trap: str, words: tuple[str, ...], seed: int) -> traps.Outcome:
    return cache_traps.run(trap, sentence(words, seed))


def panel() -> None:
    text, number = st.columns([5, 1], vertical_alignment="bottom")
    with text:
        typed = widgets.text(choices.SENTENCE, _("Your sentence"))
    with number:
        seed = widgets.number(choices.SEED, _("Vectors: random, seed"), step=1)
    words = split(typed)
    if len(words) > LONGEST:
        raise Problem("The sentence has {n} words; this page takes at most {limit}.", n=len(words), limit=LONGEST)
    titles = {trap.id: f"{n}. {say(trap.title)}" for n, trap in enumerate(cache_traps.CACHE_TRAPS.values(), start=1)}
    picked, measured = st.columns([2, 3], gap="medium")
    with picked:
        trap = cache_traps.CACHE_TRAPS[widgets.one_of(choices.TRAP, _("Trap"), titles, style="select")]
    outcome = computed(trap.id, words, seed)
    with measured:
        traps_panel.largest_difference(outcome)
    traps_panel.draw(trap, outcome, "d-trap")
    traps_panel.imports("decoding-imports")
    code = cache_traps.program(trap, words, seed)
    if code is not None:
        snippet(
            code,
            "decoding-traps",
            about=_("Paste this code into a notebook: it prints the largest difference above."),
        )
