"""Section 6: three mistakes with a cache, live in the visitor's sentence."""

from __future__ import annotations

import streamlit as st

from attnviz.app import widgets
from attnviz.app.code_snippet import choose_trap, snippet, trap_imports
from attnviz.base.message import Problem
from attnviz.base.word_boundaries import split
from attnviz.base.words import _
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.maths import cache_traps
from attnviz.runs.traps import Outcome
from attnviz.runs.word_vectors import LONGEST, sentence


@st.cache_resource(max_entries=64, show_spinner=False)
def computed(trap: str, words: tuple[str, ...], seed: int) -> Outcome:
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
    trap = choose_trap(cache_traps.CACHE_TRAPS, choices.TRAP, lambda trap: computed(trap, words, seed), "d-trap")
    trap_imports("decoding-imports")
    code = cache_traps.program(trap, words, seed)
    if code is not None:
        snippet(
            code,
            "decoding-traps",
            about=_("Paste this code into a notebook: it prints the largest difference above."),
        )
