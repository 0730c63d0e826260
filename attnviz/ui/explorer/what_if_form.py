"""The controls of a what-if: mask, scale, hidden tokens, silenced heads, and where the change is made."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.experiments.explorer import Stack, WhatIf, head_matrix
from attnviz.experiments.explorer import what_if as experiment
from attnviz.mask_bits import pack_bits
from attnviz.ui import canvas
from attnviz.ui.explorer import explorer_choices as choices
from attnviz.ui.explorer.head_panel import Shown
from attnviz.ui.shared import guard, link_state, plain, widgets
from attnviz.words import _

MOST_PILLS = 200  # tokens shown as buttons; for more tokens there is a list to search in


def controls(shown: Shown) -> tuple[WhatIf, bool]:
    """Draw the controls; the change that they describe, and whether the model is to run again with it."""
    patterns = {
        "model": _("the model's own"),
        "none": _("none"),
        "causal": _("causal"),
        "window": _("window"),
        "painted": _("painted by you"),
    }
    pattern = widgets.one_of(choices.MASK, _("Mask"), patterns, style="select")
    change = WhatIf(pattern=cast(Any, pattern))
    if pattern == "window":
        window = widgets.slider(choices.WINDOW, _("Tokens in the window"))
        change = replace(change, window=window)
    if pattern == "painted":
        change = replace(change, painted=_paint(shown))
    scales = {"model": _("the model's own"), "none": _("no scaling"), "inverse": _("1/d_k"), "factor": _("a factor")}
    scale = widgets.one_of(choices.SCALE, _("Scale of the scores"), scales, style="select")
    change = replace(change, scale=cast(Any, scale))
    if scale == "factor":
        most = max(10.0, link_state.value(choices.FACTOR))
        factor = widgets.slider(choices.FACTOR, _("Times the model's own scale"), step=0.05, high=most)
        change = replace(change, factor=factor)
    change = replace(change, hidden=_hidden(shown.stack), silenced=_silenced(shown))
    where = widgets.one_of(
        choices.WHERE, _("Change it in"), {"head": _("this head"), "layer": _("this layer"), "all": _("all layers")}
    )
    change = replace(change, where=cast(Any, where))
    again = widgets.toggle(
        choices.AGAIN,
        _("Run the model again"),
        help=_(
            "Off: only this head is computed again, from its recorded Q and K. On: the whole model runs "
            "again, so that later layers and the next token change too."
        ),
    )
    return change, again


def _paint(shown: Shown) -> bytes:
    """Draw the grid to paint on and return the mask, packed to bits; the link keeps it where it fits."""
    stack = shown.stack
    n_q, n_k = len(stack.queries), len(stack.keys)
    current = ~head_matrix.head_matrix(stack, shown.layer, shown.head).hidden
    kept = base64.b64decode(link_state.value(choices.PAINTED) or "")
    if kept and len(kept) == -(-n_q * n_k // 8):
        current = experiment.unpacked(kept, n_q, n_k)
    elif kept:
        st.caption(_("The painted mask was for other tokens, so painting starts again from the model's own mask."))
    others = None if stack.same_tokens else stack.keys.labels
    with guard():
        canvas.mask_grid(
            "painted",
            current,
            stack.queries.labels,
            others,
            on_change=_keep_mask,
            label=_("Click or drag: who may look at whom"),
        )
    return pack_bits(current)


def _keep_mask(mask: np.ndarray) -> None:
    link_state.put(choices.PAINTED, base64.b64encode(pack_bits(mask)).decode())


def _hidden(stack: Stack) -> tuple[int, ...]:
    """Draw the choice of keys that no query may look at, and return their positions."""
    labels = stack.keys.labels
    few = len(labels) <= MOST_PILLS  # else a list to search in: nobody finds a token among hundreds of buttons
    names = {i: _named(labels, i) if few else f"{i}  {label}" for i, label in enumerate(labels)}
    with st.popover(_("Hide tokens"), icon=":material/visibility_off:", width="stretch"):
        hidden = widgets.several(choices.HIDDEN, _("No token may look at these:"), names, pills=few, silent=True)
    widgets.say_refusal(choices.HIDDEN)
    if hidden:
        st.caption(_("Hidden: {tokens}").format(tokens=", ".join(_named(labels, i) for i in hidden)))
    return hidden


def _named(labels: Sequence[str], i: int) -> str:
    return plain(labels[i]) if labels.count(labels[i]) == 1 else f"{plain(labels[i])} ({i})"


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
