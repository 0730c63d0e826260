"""The explorer: a sentence, every head of a model, and what changes when a head is changed."""

import streamlit as st

from attnviz.app import page_parts, widgets
from attnviz.app.cache import model_cache
from attnviz.app.panel import fragment, guard
from attnviz.app.text import spoken
from attnviz.base.words import _
from attnviz.pages.explore import choices
from attnviz.pages.explore.page_entry import PAGE
from attnviz.pages.explore.panels import (
    head,
    next,
    programs,
    request_form,
    several_heads,
    stages,
    what_if,
    without_server,
)
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
        head.explore(run, _below)


def _below(shown: Shown) -> None:
    """Draw six panels, closed at first, and the code that prints this head's numbers."""
    panels = {
        "what_if": (
            _("What if: another mask, another scale, a silenced head"),
            ":material/science:",
            what_if.panel,
        ),
        "place": (_("Where this head sits in the model"), ":material/account_tree:", stages.place),
        "stages": (_("How it came about"), ":material/function:", stages.panel),
        "next": (_("What comes next"), ":material/arrow_forward:", next.panel),
        "average": (_("Averages and rollout"), ":material/layers:", several_heads.mean),
        "beside": (_("Two side by side"), ":material/splitscreen_right:", several_heads.two),
    }
    for name, (title, icon, panel) in panels.items():
        box = widgets.expander(choices.OPEN[name], title, icon=icon)
        if box.open:
            with box, guard():  # an error of a panel is shown in it
                panel(shown)
    layer = shown.stack.layers[shown.layer]
    extras = any(extra is not None for extra in (layer.softcap, layer.sinks, layer.bias))
    if shown.stack.same_tokens and layer.exact and not extras:
        programs.of_head(shown)
    without_server.link(shown)


def page() -> None:
    """Draw the page."""
    page_parts.page_heading(PAGE)
    with guard():
        request_form.ask(picture)


if __name__ == "__main__":  # Streamlit runs this file
    page()
