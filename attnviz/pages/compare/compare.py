"""Attention against recurrence and convolution: what each costs, measures, reaches and shares."""

from attnviz.app import presenting
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _
from attnviz.pages.compare import choices
from attnviz.pages.compare.page_entry import PAGE
from attnviz.pages.compare.panels import cost_table, measured, reach, what_is_shared


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    sections = {
        "table": (_("1 The table"), cost_table.panel),
        "measured": (_("2 Measured"), measured.panel),
        "reach": (_("3 Reach"), reach.panel),
        "shared": (_("4 What is shared"), what_is_shared.panel),
    }
    titles = {name: title for name, (title, _panel) in sections.items()}
    section = presenting.section_of(choices.SECTION, titles, _("Section"))
    with guard():
        sections[section][1]()


if __name__ == "__main__":  # Streamlit runs this file
    page()
