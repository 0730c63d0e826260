"""Eight lessons on attention, step by step: one idea, one live picture, one thing to do, one question."""

from __future__ import annotations

from attnviz.ui.lessons import lesson_page
from attnviz.ui.shared import page_heading
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    about = _(
        "Eight lessons of a few steps each, from what attention is to where it sits in a model. Predict before you "
        "look, try what the picture lets you try, and go on by button or arrow key."
    )
    page_heading(_("Lessons"), about if lesson_page.begins() else None)
    lesson_page.panel()


if __name__ == "__main__":  # Streamlit runs this file
    page()
