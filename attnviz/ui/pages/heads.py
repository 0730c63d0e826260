"""Which head does what: all heads of a model over many sentences."""

from __future__ import annotations

from attnviz.ui.heads import heads_page
from attnviz.ui.shared import guard, page_heading, page_texts


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("heads")
    page_heading(title, about, ("head", "layer", "weight", "induction", "sink"))
    with guard():
        heads_page.draw()


if __name__ == "__main__":  # Streamlit runs this file
    page()
