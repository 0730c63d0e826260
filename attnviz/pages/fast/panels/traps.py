"""Section 6: five mistakes with tiles, live in the visitor's sentence."""

from attnviz.app import page_parts, show, trap_view
from attnviz.base.words import _
from attnviz.pages.fast import choices
from attnviz.pages.fast.maths import traps


def panel() -> None:
    """Draw the section."""
    place = page_parts.main_picture()
    words, seed = trap_view.ask_sentence(choices.SENTENCE, choices.SEED)
    trap = trap_view.choose(traps.TILE_TRAPS, choices.TRAP, words, seed, "fast-trap", place)
    trap_view.imports("fast-imports")
    show.snippet(
        traps.program(trap, words, seed),
        "fast-traps",
        about=_("Paste this code into a notebook: the loop that the trap runs in, and the largest difference above."),
    )
