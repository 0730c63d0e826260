"""What a what-if is asked: mask and scale as they stand beside the head, silenced heads, and whether the model runs."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.app import edit_wording, widgets
from attnviz.app.links import link_state
from attnviz.app.text import plain
from attnviz.base.words import _
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.runs.what_if import WhatIf


def controls(shown: Shown) -> tuple[WhatIf, bool]:
    """Draw what only this panel asks, below what is chosen beside the head; the change, and whether to run again."""
    _chosen_above(shown)
    change = replace(shown.change, silenced=_silenced(shown))
    again = widgets.toggle(
        choices.AGAIN,
        _("Run the model again"),
        help=_(
            "Off: only this head is computed again, from its recorded Q and K. On: the whole model runs "
            "again, so that later layers and the next token change too."
        ),
    )
    return change, again


def _chosen_above(shown: Shown) -> None:
    """Say which mask and scale the pictures here are drawn with, and where these are chosen."""
    stack, change = shown.stack, shown.change
    if link_state.value(choices.MASK) == "painted" and link_state.value(choices.PAINTED) and not change.painted:
        st.caption(_("The painted mask was for other tokens, so painting starts again from the model's own mask."))
    mask, scale, more = edit_wording.said_of(stack, shown.layer, change)
    st.markdown(plain(edit_wording.mask_and_scale(mask, scale, stack.layers[shown.layer].scale)))
    if more:
        st.markdown(plain(more))
    st.caption(_("Mask, scale and hidden tokens are chosen beside the large head above."))


def _silenced(shown: Shown) -> tuple[tuple[int, int], ...]:
    places = [(index, head) for index, layer in enumerate(shown.stack.layers) for head in range(layer.n_heads)]
    chosen = widgets.several(
        choices.QUIET,
        _("Silence heads (layer.head)"),
        {choices.name_of(place): choices.name_of(place) for place in places},
        placeholder=_("none"),
        help=_("Their output is replaced by zeros, and the model runs again without them."),
    )
    return tuple(choices.head_of(name) for name in chosen)
