"""Attention against recurrence and convolution: what each costs, measures, reaches and shares."""

from __future__ import annotations

from attnviz.ui.compare import compare_choices, compare_sections
from attnviz.ui.shared import guard, page_heading, page_texts, presenting
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("compare")
    page_heading(title, about, ("self_attention", "flop", "linear_attention"))
    section = presenting.section_of(compare_choices.SECTION, compare_sections.titles(), _("Section"))
    with guard():
        compare_sections.SECTIONS[section]()


if __name__ == "__main__":  # Streamlit runs this file
    page()
