"""Why flash attention is fast: scores in tiles, what that costs and saves, how it rounds, a cache in blocks, traps."""

from attnviz.app import page_parts, show, trap_view
from attnviz.base.words import _
from attnviz.pages.fast import choices
from attnviz.pages.fast.maths import traps
from attnviz.pages.fast.page_entry import PAGE
from attnviz.pages.fast.panels import cost, measured, numerics, paged, tiles


def page() -> None:
    """Draw the page."""
    panels = {
        "tiles": (_("Tile by tile"), tiles.panel),
        "cost": (_("What it costs"), cost.panel),
        "measured": (_("Measured"), measured.panel),
        "numerics": (_("Rounding"), numerics.panel),
        "paged": (_("Paged cache"), paged.panel),
        "traps": (_("Traps"), draw_traps),
    }
    page_parts.draw_sections(PAGE, choices.SECTION, panels)


def draw_traps() -> None:
    """Section 6: five mistakes with tiles, live in the visitor's sentence."""
    container = page_parts.main_picture()
    tokens, seed = trap_view.ask_sentence(choices.SENTENCE, choices.SEED)
    trap = trap_view.choose(traps.TILE_TRAPS, choices.TRAP, tokens, seed, "fast-trap", container)
    trap_view.draw_imports("fast-imports")
    show.program(
        traps.program(trap, tokens, seed),
        "fast-traps",
        about=_("Paste this code into a notebook: the loop that the trap runs in, and the largest difference above."),
    )


if __name__ == "__main__":  # Streamlit runs this file
    page()
