"""The sections of the page, in order; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Callable

from attnviz.ui.compare import cost_table_panel, measured_panel, reach_panel, what_is_shared_panel
from attnviz.words import _

SECTIONS: dict[str, Callable[[], None]] = {
    "table": cost_table_panel.panel,
    "measured": measured_panel.panel,
    "reach": reach_panel.panel,
    "shared": what_is_shared_panel.panel,
}


def titles() -> dict[str, str]:
    """Id to title, numbered in the order of the page."""
    return {
        "table": _("1 The table"),
        "measured": _("2 Measured"),
        "reach": _("3 Reach"),
        "shared": _("4 What is shared"),
    }
