"""What unfolds below the picture, each only computed while it is open."""

from __future__ import annotations

import streamlit as st

from attnviz.ui.explore import average_panel, beside_panel, next_panel, stages_panel, what_if_panel
from attnviz.ui.explore.heads import Shown
from attnviz.ui.guard import guard
from attnviz.words import _


def below(shown: Shown) -> None:
    """Five questions, closed until asked."""
    questions = [
        ("stages", _("How it came about"), ":material/function:", stages_panel.panel),
        (
            "what_if",
            _("What if: another mask, another scale, a silenced head"),
            ":material/science:",
            what_if_panel.panel,
        ),
        ("next", _("What comes next"), ":material/arrow_forward:", next_panel.panel),
        ("average", _("Averages and rollout"), ":material/layers:", average_panel.panel),
        ("beside", _("Two side by side"), ":material/splitscreen_right:", beside_panel.panel),
    ]
    for name, title, icon, panel in questions:
        box = st.expander(title, icon=icon, key=f"open_{name}", on_change="rerun", bind="query-params")
        if box.open:
            with box, guard():
                panel(shown)
