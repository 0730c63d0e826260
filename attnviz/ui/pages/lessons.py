"""Eight lessons on attention, step by step: one idea, one live picture, one thing to do, one question."""

from __future__ import annotations

from attnviz.ui.lessons import lesson_page
from attnviz.ui.shared import page_heading
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    page_heading(_("Lessons"))
    lesson_page.panel()


if __name__ == "__main__":  # Streamlit runs this file
    page()
