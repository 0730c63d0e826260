"""Attention against recurrence and convolution: what each costs, measures, reaches and shares."""

from attnviz.app.page_parts import sections
from attnviz.base.words import _
from attnviz.pages.compare import choices
from attnviz.pages.compare.page_entry import PAGE
from attnviz.pages.compare.panels import cost_table, measured, reach, what_is_shared


def page() -> None:
    """Draw the page."""
    panels = {
        "table": (_("1 The table"), cost_table.panel),
        "measured": (_("2 Measured"), measured.panel),
        "reach": (_("3 Reach"), reach.panel),
        "shared": (_("4 What is shared"), what_is_shared.panel),
    }
    sections(PAGE, choices.SECTION, panels)


if __name__ == "__main__":  # Streamlit runs this file
    page()
