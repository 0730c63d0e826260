"""Why scores are divided by the square root of d_k: tried by hand, measured, and trained."""

from __future__ import annotations

from attnviz.ui.scaling import ending, scaling_choices, sections
from attnviz.ui.shared import guard, page_heading, page_texts, presenting
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("scaling")
    page_heading(title, about, ("d_k", "scaling", "softmax", "saturation", "entropy", "nat"))
    section = presenting.section_of(scaling_choices.SECTION, sections.titles(), _("Section"))
    with guard():
        ending.section(section)


if __name__ == "__main__":  # Streamlit runs this file
    page()
