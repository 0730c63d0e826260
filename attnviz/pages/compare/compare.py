"""Attention against recurrence and convolution: what each costs, measures, reaches and shares."""

from __future__ import annotations

from collections.abc import Callable

from attnviz.app import presenting
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _
from attnviz.pages.compare import choices
from attnviz.pages.compare.page_entry import PAGE
from attnviz.pages.compare.panels import cost_table, what_is_shared
from attnviz.pages.compare.panels import measured as measured_panel
from attnviz.pages.compare.panels import reach as reach_panel


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    section = presenting.section_of(choices.SECTION, titles(), _("Section"))
    with guard():
        SECTIONS[section]()


SECTIONS: dict[str, Callable[[], None]] = {
    "table": cost_table.panel,
    "measured": measured_panel.panel,
    "reach": reach_panel.panel,
    "shared": what_is_shared.panel,
}


def titles() -> dict[str, str]:
    """Id to title, numbered in the order of the page."""
    return {
        "table": _("1 The table"),
        "measured": _("2 Measured"),
        "reach": _("3 Reach"),
        "shared": _("4 What is shared"),
    }


if __name__ == "__main__":  # Streamlit runs this file
    page()
