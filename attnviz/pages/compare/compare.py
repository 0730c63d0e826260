"""Attention against recurrence and convolution: what each costs, measures, reaches, shares and is used for."""

from attnviz.app.page_parts import sections
from attnviz.base.words import _
from attnviz.pages.compare import choices
from attnviz.pages.compare.page_entry import PAGE
from attnviz.pages.compare.panels import cost_table, measured, reach, typical_uses, what_is_shared


def page() -> None:
    """Draw the page."""
    panels = {
        "table": (_("1 The table"), cost_table.panel),
        "measured": (_("2 Measured"), measured.panel),
        "reach": (_("3 Reach"), reach.panel),
        "shared": (_("4 What is shared"), what_is_shared.panel),
        "uses": (_("5 Typical uses"), typical_uses.panel),
    }
    sections(PAGE, choices.SECTION, panels)


if __name__ == "__main__":  # Streamlit runs this file
    page()
