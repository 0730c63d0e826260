"""Writing token by token: what the cache of keys and values holds, saves and costs, and how it goes wrong."""

import streamlit as st

from attnviz.app import presenting, trap_view, widgets
from attnviz.app.code_snippet import snippet
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.base.word_boundaries import split
from attnviz.base.words import _
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.maths import cache_traps
from attnviz.pages.decoding.page_entry import PAGE
from attnviz.pages.decoding.panels import cache_size, decoder_form, player, policy, roofline
from attnviz.runs.traps import Outcome
from attnviz.runs.word_vectors import sentence


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    views = {
        "steps": (_("Step by step"), player.panel),
        "bytes": (_("Bytes"), cache_size.growing),
        "numbers": (_("int8, int4"), cache_size.rounded),
        "policies": (_("What to keep"), policy.panel),
        "speed": (_("Prefill, decode"), roofline.panel),
        "traps": (_("Traps"), traps),
    }
    names = {name: label for name, (label, _panel) in views.items()}
    view = presenting.section_of(choices.VIEW, names, _("View"), walked=False)
    presenting.presenter(decoder_form.walk(names))
    with guard():
        views[view][1]()


@st.cache_resource(max_entries=64, show_spinner=False)
def computed_trap(trap: str, words: tuple[str, ...], seed: int) -> Outcome:
    return cache_traps.CACHE_TRAPS[trap].run(sentence(words, seed))


def traps() -> None:
    """Draw section 6: three mistakes with a cache, live in the visitor's sentence."""
    text, number = st.columns([5, 1], vertical_alignment="bottom")
    with text:
        words = split(widgets.text(choices.SENTENCE, _("Your sentence")))
    with number:
        seed = widgets.number(choices.SEED, _("Vectors: random, seed"), step=1)
    trap = trap_view.choose(
        cache_traps.CACHE_TRAPS, choices.TRAP, lambda trap: computed_trap(trap, words, seed), "d-trap"
    )
    trap_view.imports("decoding-imports")
    code = cache_traps.program(trap, words, seed)
    if code is not None:
        snippet(
            code, "decoding-traps", about=_("Paste this code into a notebook: it prints the largest difference above.")
        )


if __name__ == "__main__":  # Streamlit runs this file
    page()
