"""The explorer: a sentence, every head of a model, and what changes when a head is changed."""

from contextlib import suppress
from urllib.parse import urlencode

import streamlit as st

from attnviz.app import page_parts, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_reading, link_state
from attnviz.app.links.choices import name_of_head
from attnviz.app.panel import fragment, guard
from attnviz.app.text import spoken
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.models import settings
from attnviz.pages.explore import choices
from attnviz.pages.explore.page_entry import PAGE
from attnviz.pages.explore.panels import head, next, overview, programs, request_form, several_heads, stages, what_if
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.site import model_files

#: what of a link the explorer without a server reads besides the sentence, the model and the head; of what the canvases
#: hold, this
CHANGES = (choices.MASK, choices.WINDOW, choices.SCALE, choices.FACTOR, choices.WHERE, choices.SEEN)
HELD = (choices.PAINTED, choices.HIDDEN, choices.QUIET)


@fragment
def explore(request: request_form.Request) -> None:
    """Draw the heads and every panel about them.

    Choosing a head reruns only this; the model runs only for new input. Measuring all heads, for the standouts, takes
    longer than drawing them, and comes last.
    """
    with guard():
        run = model_cache.model_run(request)
        for notice in run.notices:
            st.info(spoken(notice))
        stack = overview.choose_stack(run)
        small, large = st.container(key="main-picture").columns([1, 1.9], gap="medium")
        with small, st.container(key="drawer"):  # presented, all heads open from the side
            tiles, place = overview.draw(run, stack)
            standouts = st.container(gap=None)
            overview.export(run, stack, tiles)
        with large:
            shown = head.draw(run, stack, *place)
        panels(shown)
        with standouts:
            overview.standouts(run, stack)


def panels(shown: Shown) -> None:
    """Draw six panels, closed at first, and the code that prints this head's numbers."""
    about = {
        "what_if": (":material/science:", what_if.panel),
        "place": (":material/account_tree:", stages.place),
        "stages": (":material/function:", stages.panel),
        "next": (":material/arrow_forward:", next.panel),
        "average": (":material/layers:", several_heads.mean),
        "beside": (":material/splitscreen_right:", several_heads.two),
    }
    for name, (icon, panel) in about.items():
        box = widgets.expander(choices.OPEN[name], _(choices.PANELS[name]), icon=icon)
        if box.open:
            with box, guard():  # an error of a panel is shown in it
                panel(shown)
    layer = shown.stack.layers[shown.layer]
    extras = any(extra is not None for extra in (layer.softcap, layer.sinks, layer.bias))
    if shown.stack.same_tokens and layer.exact and not extras:
        programs.of_head(shown)
    _without_server(shown)


def _without_server(shown: Shown) -> None:
    """Draw a quiet link, if there is such an explorer and it can read this sentence with this model."""
    address = address_of(shown)
    if address:
        st.caption(_("[Open without a server]({address})").format(address=address))


def address_of(shown: Shown) -> str | None:
    """The address of what is on show in an explorer without a server; None where there is none."""
    site, request = settings.current().site, shown.run.request
    short = len(shown.stack.queries) <= model_files.LONGEST
    plain = not request.second and request.frame == choices.FRAME.default
    if site is None or request.model not in model_files.MODELS or not (plain and short):
        return None
    said = {"model": request.model, "text": request.text, "at": name_of_head((shown.layer, shown.head))}
    chosen = link_state.link_values("explore")
    said |= {choice.name: chosen[choice.name] for choice in CHANGES if choice.name in chosen}
    on_canvas = chosen.get("c", {})
    held = {choice.short: on_canvas[choice.short] for choice in HELD if choice.short in on_canvas}
    with suppress(Problem):  # what is painted may be too large for a link: the rest is carried all the same
        said |= {"c": link_reading.pack(held)} if held else {}
    return f"{site}#{urlencode(said)}"


def page() -> None:
    """Draw the page."""
    page_parts.page_heading(PAGE)
    with guard():
        request = request_form.ask()
        if request is not None:
            explore(request)


if __name__ == "__main__":  # Streamlit runs this file
    page()
