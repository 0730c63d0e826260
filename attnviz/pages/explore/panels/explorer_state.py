"""The explorer's choices, limited to what this sentence and this model have: a head, its edit, heads over it."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.app import edited_head, widgets
from attnviz.app.links import link_state, page_address
from attnviz.base.head_edit import LARGEST_FACTOR, LONGEST_WINDOW, HeadEdit
from attnviz.base.words import _
from attnviz.pages.explore import choices
from attnviz.runs.head_matrix import Look
from attnviz.runs.model_run import ModelRun, Stack


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


def edit(stack: Stack, layer: int) -> HeadEdit:
    """The mask and the scale that the link holds, as far as this sentence has its tokens; seen where it can be."""
    chosen = HeadEdit(
        mask=link_state.value(choices.MASK),
        window=link_state.value(choices.WINDOW),
        hidden=tuple(key for key in link_state.value(choices.HIDDEN) if isinstance(key, int)),
        painted=base64.b64decode(link_state.value(choices.PAINTED) or ""),
        scale=link_state.value(choices.SCALE),
        factor=link_state.value(choices.FACTOR),
        where=link_state.value(choices.WHERE),
        seen=link_state.value(choices.SEEN) if stack.layers[layer].exact else "before",
    )
    return chosen.fitted(len(stack.queries), len(stack.keys))


def edit_on_canvas(edit: HeadEdit) -> HeadEdit:
    """The edit for the controls beside the head: they know what was looked at last, even while nothing is changed."""
    return replace(edit, seen=link_state.value(choices.SEEN))


def keep_edit(edit: HeadEdit) -> None:
    """Keep what a hand has changed; in the link it is one step. A callback."""
    link_state.put_all({
        choices.MASK: edit.mask,
        choices.WINDOW: min(edit.window, LONGEST_WINDOW),
        choices.HIDDEN: edit.hidden,
        choices.PAINTED: base64.b64encode(edit.painted).decode() or None if edit.mask == "painted" else None,
        choices.SCALE: edit.scale,
        choices.FACTOR: min(edit.factor, LARGEST_FACTOR),
        choices.WHERE: edit.where,
        choices.SEEN: edit.seen,
    })  # fmt: skip


def say_refusals(stack: Stack) -> None:
    """Say why parts of the link that are about mask and scale are not used."""
    widgets.chosen_of(choices.HIDDEN, range(len(stack.keys)))
    for choice in (choices.MASK, choices.WINDOW, choices.HIDDEN, choices.SCALE, choices.FACTOR, choices.WHERE):
        widgets.say_refusal(choice)


def over() -> tuple[int, ...]:
    """The heads whose lines the visitor laid over each other, by number; they stay when another layer is on show."""
    return tuple(head for head in link_state.value(choices.OVER) if isinstance(head, int))


def keep_over(heads: tuple[int, ...]) -> None:
    """Keep them. A callback."""
    link_state.put(choices.OVER, heads)


def matrices_over(
    heads: Sequence[int], run: ModelRun, stack: Stack, layer: int, look: Look, edit: HeadEdit
) -> Mapping[int, np.ndarray]:
    """Of each of these heads its matrix, NaN where masked, under the edit where that reaches them."""
    if edit.where == "head":
        edit = HeadEdit(seen=edit.seen)
    matrices = {}
    for other in heads:
        matrix = edited_head.matrix(run, stack, layer, other, look, edit)
        matrices[other] = np.where(matrix.hidden, np.nan, matrix.values)
    return matrices
