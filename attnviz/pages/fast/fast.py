"""Why flash attention is fast: scores in tiles, what that costs and saves, how it rounds, a cache in blocks."""

from attnviz.app import page_parts
from attnviz.base.words import _
from attnviz.pages.fast import choices
from attnviz.pages.fast.page_entry import PAGE
from attnviz.pages.fast.panels import cost, numerics, paged, tiles


def page() -> None:
    """Draw the page."""
    panels = {
        "tiles": (_("Tile by tile"), tiles.panel),
        "cost": (_("What it costs"), cost.panel),
        "measured": (_("Measured"), cost.measured_panel),
        "numerics": (_("Rounding"), numerics.panel),
        "paged": (_("Paged cache"), paged.panel),
    }
    page_parts.draw_sections(PAGE, choices.SECTION, panels)


if __name__ == "__main__":  # Streamlit runs this file
    page()
