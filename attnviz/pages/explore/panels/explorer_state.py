"""The explorer's choices, limited to what this sentence and this model have."""

from __future__ import annotations

import streamlit as st

from attnviz.app.links import link_state, page_address
from attnviz.base.words import _
from attnviz.pages.explore import choices
from attnviz.runs.model_run import Stack


def at(stack: Stack) -> tuple[int, int]:
    """(layer, head) on show: the chosen one, or the nearest that this stack has, in which case a caption says so."""
    layer, head = link_state.value(choices.AT)
    if stack.has(layer, head):
        return layer, head
    nearest = min(layer, len(stack.layers) - 1)
    nearest_head = min(head, stack.layers[nearest].n_heads - 1)
    if (layer, head) != choices.START:
        st.caption(
            _(
                "There is no layer {layer} head {head} here: layers go from 0 to {last}. "
                "Layer {to_layer} head {to_head} is shown."
            ).format(layer=layer, head=head, last=len(stack.layers) - 1, to_layer=nearest, to_head=nearest_head)
        )
    return nearest, nearest_head


def go_to(layer: int, head: int) -> None:
    """Show another head. Call it from callbacks."""
    link_state.put(choices.AT, (layer, head))


def stage(n_q: int, n_k: int) -> tuple[int, int | None] | None:
    """The query and key chosen in the stages, if this sentence has them; a missing key is None."""
    held = link_state.value(choices.STAGE)
    if held is None or held[0] >= n_q:
        return None
    query, key = held
    return query, None if key is None or key >= n_k else key


def link() -> str:
    """The link to this view for a caption; empty when it is too long, or opens the view on this machine only."""
    return page_address.public_address(page_address.LONGEST_IN_CAPTION) or ""
