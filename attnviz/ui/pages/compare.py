"""Attention against recurrence and convolution: what each costs, measures, reaches and shares."""

from __future__ import annotations

from attnviz.ui.compare import compare_choices, compare_sections
from attnviz.ui.shared import guard, page_heading, presenting
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    page_heading(
        _("Attention, recurrence, convolution"),
        _(
            "Three ways to let the tokens of a sequence hear of each other. Attention connects any two in one step and "
            "pays for it with the square of the length: here is what that buys, counted, timed and trained."
        ),
        ("self_attention", "flop", "linear_attention"),
    )
    section = presenting.section_of(compare_choices.SECTION, compare_sections.titles(), _("Section"))
    with guard():
        compare_sections.SECTIONS[section]()


if __name__ == "__main__":  # Streamlit runs this file
    page()
