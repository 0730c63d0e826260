"""The training of a small model: when its heads learn to look back, and what they need for it."""

from attnviz.app import page_parts
from attnviz.base.words import _
from attnviz.pages.born import choices
from attnviz.pages.born.page_entry import PAGE
from attnviz.pages.born.panels import film, real, watched


def page() -> None:
    """Draw the page."""
    panels = {
        "life": (_("One training run"), film.panel),
        "others": (_("Other runs"), film.draw_other_runs),
        "real": (_("A trained model"), real.panel),
        "watched": (_("Your own training"), watched.panel),
    }
    page_parts.draw_sections(PAGE, choices.SECTION, panels)


if __name__ == "__main__":  # Streamlit runs this file
    page()
