"""The explorer: a sentence, every head of a model, and what changes when a head is changed."""

from __future__ import annotations

import streamlit as st

from attnviz.app import widgets
from attnviz.app.cache import model_cache
from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.app.text import spoken
from attnviz.base.words import _
from attnviz.pages.explore import choices
from attnviz.pages.explore.page_entry import PAGE
from attnviz.pages.explore.panels import average as average_panel
from attnviz.pages.explore.panels import beside as beside_panel
from attnviz.pages.explore.panels import head as head_panel
from attnviz.pages.explore.panels import next as next_panel
from attnviz.pages.explore.panels import place as place_panel
from attnviz.pages.explore.panels import programs, request_form
from attnviz.pages.explore.panels import stages as stages_panel
from attnviz.pages.explore.panels import what_if as what_if_panel
from attnviz.pages.explore.panels.shown_head import Shown


@fragment
def picture(request: request_form.Request) -> None:
    """Draw the heads and every panel about them.

    Choosing a head reruns only this; the model runs only for new input.
    """
    with guard():
        run = model_cache.model_run(request)
        for notice in run.notices:
            st.info(spoken(notice))
        with st.container(key="canvas-of-heads"):
            head_panel.explore(run, _below)


def _below(shown: Shown) -> None:
    """Draw six panels, closed at first, and the code that prints this head's numbers."""
    questions = [
        ("place", _("Where this head sits in the model"), ":material/account_tree:", place_panel.panel),
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
        box = widgets.expander(choices.OPEN[name], title, icon=icon)
        if box.open:
            with box, guard():  # an error of a panel is shown in it
                panel(shown)
    layer = shown.stack.layers[shown.layer]
    extras = (layer.softcap, layer.sinks, layer.bias)
    if shown.stack.same_tokens and layer.exact and all(extra is None for extra in extras):
        programs.of_head(shown)


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    with guard():
        request_form.ask(picture)


if __name__ == "__main__":  # Streamlit runs this file
    page()
