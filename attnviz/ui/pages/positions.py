"""How order gets into attention: nothing, added, turned or taken off the scores; longer texts; video; a real head."""

from __future__ import annotations

from attnviz.ui.positions import position_sections, positions_choices
from attnviz.ui.shared import guard, page_heading, page_texts, presenting
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("positions")
    page_heading(title, about, ("position", "sinusoidal", "rope", "alibi"), low=True)
    section = presenting.section_of(positions_choices.SECTION, position_sections.titles(), _("Section"))
    with guard():
        position_sections.SECTIONS[section]()


if __name__ == "__main__":  # Streamlit runs this file
    page()
