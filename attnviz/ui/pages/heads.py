"""Which head does what: all heads of a model over many sentences."""

from __future__ import annotations

from attnviz.ui.heads import heads_page
from attnviz.ui.shared import guard, page_heading
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    page_heading(
        _("Which head does what"),
        _(
            "Every head of a model over many sentences: which patterns it shows, and what it costs to take it away. "
            "Click on a head."
        ),
        ("head", "layer", "weight", "induction", "sink"),
    )
    with guard():
        heads_page.draw()


if __name__ == "__main__":  # Streamlit runs this file
    page()
