"""Eight lessons on attention, step by step: one idea, one live picture, one thing to do, one question."""

from __future__ import annotations

from attnviz.ui.lessons import lesson_page
from attnviz.ui.shared import page_heading, page_texts


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("lessons")
    page_heading(title, about if lesson_page.begins() else None)
    lesson_page.panel()


if __name__ == "__main__":  # Streamlit runs this file
    page()
