"""What changes under another mask, another scale or a silenced head: before, after and the difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.head_drawing import axes, long_table
from attnviz.app.links import link_state
from attnviz.app.text import plain, spoken
from attnviz.base.head_edit import HeadEdit
from attnviz.base.message import Problem
from attnviz.base.words import _, ended, sentences
from attnviz.canvas.head.attention_view import head_view
from attnviz.canvas.head.pictures import head_picture
from attnviz.canvas.shared.kinds import Head, HeadScene
from attnviz.engine.engine_protocol import Rerun
from attnviz.figures.svg_head import HeadPicture
from attnviz.models.capture import Trace
from attnviz.pages.explore import choices
from attnviz.pages.explore.panels import programs, what_if_followers
from attnviz.pages.explore.panels.shown_head import Shown, caption_of
from attnviz.runs import head_matrix
from attnviz.runs import what_if as experiment
from attnviz.runs.head_matrix import Matrix
from attnviz.runs.model_run import Stack
from attnviz.runs.what_if import largest_change, said_of_change


def panel(shown: Shown) -> None:
    """Draw the controls, the three pictures, and the effect on later layers and the next token."""
    if not shown.stack.layers[shown.layer].exact:
        raise Problem("This model gives only its attention weights, so its mask and scale cannot be changed")
    left, right = st.columns([1, 2.6], gap="medium")
    with left:
        edit, again = _controls(shown)
    with right:
        _consequences(shown, edit, again)


def _controls(shown: Shown) -> tuple[HeadEdit, bool]:
    """Draw what only this panel asks, below what is chosen beside the head; the edit, and whether to run again."""
    _chosen_above(shown)
    edit = replace(shown.edit, silenced=_silenced(shown))
    again = widgets.toggle(
        choices.AGAIN,
        _("Run the model again"),
        help=_(
            "Off: only this head is computed again, from its recorded Q and K. On: the whole model runs "
            "again, so that later layers and the next token change too."
        ),
    )
    return edit, again


def _chosen_above(shown: Shown) -> None:
    """Say which mask and scale the pictures here are drawn with, and where these are chosen."""
    stack, edit = shown.stack, shown.edit
    if link_state.value(choices.MASK) == "painted" and link_state.value(choices.PAINTED) and not edit.painted:
        st.caption(_("The painted mask was for other tokens, so painting starts again from the model's own mask."))
    mask, scale, more = head_drawing.in_words(edit, stack, shown.layer)
    st.markdown(plain(head_drawing.say_mask_and_scale(mask, scale, stack.layers[shown.layer].scale)))
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


def _consequences(shown: Shown, edit: HeadEdit, again: bool) -> None:
    if not edit.changes:
        st.info(
            _(
                "Choose another mask or scale beside the large head, hide a token there or silence a head here: "
                "what changes is shown here at once."
            )
        )
        return
    trace = _rerun(shown, edit) if again or edit.silenced else None
    stack = shown.stack if trace is None else _same_stack(shown, trace)
    changed_at = (shown.layer, shown.head)
    before, after = _pair(shown, edit, stack, trace is None)
    if edit.silenced:
        what_if_followers.say_what_is_silenced(shown, edit)
    moved = None if trace is None else experiment.by_movement(shown.stack, stack)
    if moved and edit.silenced and largest_change(before, after) is None:
        shown = what_if_followers.stand_in(shown, moved[0])
        before, after = _pair(shown, edit, stack, False)
    _three(shown, edit, before, after)
    if trace is not None:
        what_if_followers.draw(shown, edit, trace, moved or [])
    programs.of_what_if(shown, changed_at, edit, before, after, trace)


def _pair(shown: Shown, edit: HeadEdit, stack: Stack, instant: bool) -> tuple[Matrix, Matrix]:
    """The head before and after; `stack` is that of the new run, unless the head itself is computed at once."""
    before = head_matrix.head_matrix(shown.stack, shown.layer, shown.head, shown.look)
    if instant:
        return before, experiment.instantly(shown.stack, shown.layer, shown.head, edit, shown.look)
    return before, head_matrix.head_matrix(stack, shown.layer, shown.head, shown.look)


def _rerun(shown: Shown, edit: HeadEdit) -> Trace:
    place = None if edit.where == "all" else (shown.layer, shown.head)
    edit = replace(edit, seen="after")  # one run, whatever is looked at
    key = ("what-if", shown.stack.id, place, edit)
    rerun = Rerun(experiment.run_again, (shown.stack.id, shown.layer, shown.head, edit))
    with st.spinner(_("Running the model again…")):
        changed: Trace = model_cache.cached_rerun(shown.run, rerun, key)
    return changed


def _same_stack(shown: Shown, trace: Trace) -> Stack:
    return next(stack for stack in shown.run.stacks_in(trace) if stack.id == shown.stack.id)


def _three(shown: Shown, edit: HeadEdit, before: Matrix, after: Matrix) -> None:
    difference = after.minus(before)
    options = replace(shown.scene.options, compact=True, chips=False, lines=False, unit="")
    views = [
        ("before", _("Before"), before, "weights"),
        ("after", _("After"), after, "weights"),
        ("difference", _("Difference"), difference, "diff"),
    ]
    if shown.look.values == "values":
        views = [(key, name, matrix, "diff" if kind == "diff" else "values") for key, name, matrix, kind in views]
        options = replace(options, top=float(max(np.nanmax(before.plain), np.nanmax(after.plain))))
    heads = {key: Head(one.values, name, one.hidden, cast(Any, kind)) for key, name, one, kind in views}
    for column, (key, _name, matrix, _kind) in zip(st.columns(3), views, strict=True):
        with column:
            head_view(f"what-if-{key}", heads[key], HeadScene(*axes(matrix), options, "heads"))
    st.markdown(spoken(said_of_change(before, after)))
    row = _row(shown, before, after)
    st.markdown(_("Before: {before}").format(before=spoken(before.said_of(row))))
    st.markdown(_("After: {after}").format(after=spoken(after.said_of(row))))
    name = f"what-if-{shown.run.request.model}-layer{shown.layer}-head{shown.head}"
    with st.container(horizontal=True):
        for key, label, matrix, _kind in views:
            drawn = partial(head_picture, heads[key], HeadScene(*axes(matrix), options), shown.pins)
            _export(shown, edit, f"{name}-{key}", key, label, matrix, drawn)


def _export(
    shown: Shown, edit: HeadEdit, name: str, key: str, label: str, matrix: Matrix, drawn: Callable[[], HeadPicture]
) -> None:
    mask, scale, more = (None, None, "") if key == "before" else head_drawing.in_words(edit, shown.stack, shown.layer)
    show.under(
        drawn,
        name=name,
        key=f"what-if-{key}-out",
        caption=sentences(ended(label), caption_of(shown, mask, scale, more)),
        table=lambda: long_table(matrix),
        label=label,
        embeds=False,
    )


def _row(shown: Shown, before: Matrix, after: Matrix) -> int:
    """The row to spell out: the visitor's, if one is pinned or clicked, else the one that changes most."""
    found = largest_change(before, after)
    return min(shown.query, len(before.rows) - 1) if shown.pins or found is None else found.row
