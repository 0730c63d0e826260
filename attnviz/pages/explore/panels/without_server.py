"""The way to what is on show in an explorer that needs no server, where the address of one is configured."""

from contextlib import suppress
from urllib.parse import urlencode

import streamlit as st

from attnviz.app.links import link_reading, link_state
from attnviz.app.links.choices import name_of_head
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.models import settings
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels import shown_head
from attnviz.site import model_files

#: what of a link it reads besides the sentence, the model and the head; of what the canvases hold, this
CHANGES = (choices.MASK, choices.WINDOW, choices.SCALE, choices.FACTOR, choices.WHERE, choices.SEEN)
HELD = (choices.PAINTED, choices.HIDDEN, choices.QUIET)


def link(shown: shown_head.Shown) -> None:
    """Draw a quiet link, if there is such an explorer and it can read this sentence with this model."""
    address = address_of(shown)
    if address:
        st.caption(_("[Open without a server]({address})").format(address=address))


def address_of(shown: shown_head.Shown) -> str | None:
    """The address of what is on show there; None where there is none."""
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
