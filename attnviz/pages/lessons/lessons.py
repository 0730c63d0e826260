"""Eight lessons on attention, step by step: one idea, one live picture, one thing to do, one question."""

from attnviz.app.page_heading import page_heading
from attnviz.pages.lessons.page_entry import PAGE
from attnviz.pages.lessons.panels import lesson_page


def page() -> None:
    """Draw the page."""
    page_heading(PAGE, about=lesson_page.begins())
    lesson_page.panel()


if __name__ == "__main__":  # Streamlit runs this file
    page()
