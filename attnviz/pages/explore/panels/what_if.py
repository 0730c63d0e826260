"""What changes under another mask, another scale or a silenced head: before, after and the difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz import canvas
from attnviz.app import show
from attnviz.app.cache import model_cache
from attnviz.app.head_drawing import axes, long_table
from attnviz.app.text import spoken
from attnviz.base.message import Problem
from attnviz.base.words import _, ended, sentences
from attnviz.engine.engine_protocol import Rerun
from attnviz.figures.svg_head import HeadPicture
from attnviz.models.capture import Trace
from attnviz.pages.explore.panels import what_if_code, what_if_followers, what_if_form
from attnviz.pages.explore.panels.head_captions import caption_of
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.pages.explore.panels.what_if_words import said_of
from attnviz.runs import head_matrix
from attnviz.runs import what_if as experiment
from attnviz.runs.head_matrix import Matrix
from attnviz.runs.model_run import Stack
from attnviz.runs.what_if import WhatIf, largest_change, said_of_change


def panel(shown: Shown) -> None:
    """Draw the controls, the three pictures, and the effect on later layers and the next token."""
    if not shown.stack.layers[shown.layer].exact:
        raise Problem("This model gives only its attention weights, so its mask and scale cannot be changed")
    left, right = st.columns([1, 2.6], gap="medium")
    with left:
        change, again = what_if_form.controls(shown)
    with right:
        _consequences(shown, change, again)


def _consequences(shown: Shown, change: WhatIf, again: bool) -> None:
    if not change.changes:
        st.info(
            _(
                "Choose another mask or scale beside the large head, hide a token there or silence a head here: "
                "what changes is shown here at once."
            )
        )
        return
    trace = _rerun(shown, change) if again or change.silenced else None
    stack = shown.stack if trace is None else _same_stack(shown, trace)
    changed_at = (shown.layer, shown.head)
    before, after = _pair(shown, change, stack, trace is None)
    if change.silenced:
        what_if_followers.say_what_is_silenced(shown, change)
    moved = None if trace is None else experiment.by_movement(shown.stack, stack)
    if moved and change.silenced and largest_change(before, after) is None:
        shown = what_if_followers.stand_in(shown, moved[0])
        before, after = _pair(shown, change, stack, False)
    _three(shown, change, before, after)
    if trace is not None:
        what_if_followers.draw(shown, change, trace, moved or [])
    what_if_code.draw(shown, changed_at, change, before, after, trace)


def _pair(shown: Shown, change: WhatIf, stack: Stack, instant: bool) -> tuple[Matrix, Matrix]:
    """The head before and after; `stack` is that of the new run, unless the head itself is computed at once."""
    before = head_matrix.head_matrix(shown.stack, shown.layer, shown.head, shown.look)
    if instant:
        return before, experiment.instantly(shown.stack, shown.layer, shown.head, change, shown.look)
    return before, head_matrix.head_matrix(stack, shown.layer, shown.head, shown.look)


def _rerun(shown: Shown, change: WhatIf) -> Trace:
    place = None if change.where == "all" else (shown.layer, shown.head)
    key = ("what-if", shown.stack.id, place, change)
    rerun = Rerun("what_if", (shown.stack.id, shown.layer, shown.head, change))
    with st.spinner(_("Running the model again…")):
        changed: Trace = model_cache.cached_rerun(shown.run, rerun, key)
    return changed


def _same_stack(shown: Shown, trace: Trace) -> Stack:
    return next(stack for stack in shown.run.stacks_in(trace) if stack.id == shown.stack.id)


def _three(shown: Shown, change: WhatIf, before: Matrix, after: Matrix) -> None:
    difference = after.minus(before)
    options = replace(shown.options, compact=True, chips=False, lines=False, unit="")
    views = [
        ("before", _("Before"), before, "weights"),
        ("after", _("After"), after, "weights"),
        ("difference", _("Difference"), difference, "diff"),
    ]
    if shown.look.values == "values":
        views = [(key, name, matrix, "diff" if kind == "diff" else "values") for key, name, matrix, kind in views]
        options = replace(options, top=float(max(np.nanmax(before.plain), np.nanmax(after.plain))))
    heads = {key: canvas.Head(one.values, name, one.hidden, cast(Any, kind)) for key, name, one, kind in views}
    for column, (key, _name, matrix, _kind) in zip(st.columns(3), views, strict=True):
        with column:
            canvas.head_view(f"what-if-{key}", heads[key], *axes(matrix), options=options, group="heads")
    st.markdown(spoken(said_of_change(before, after)))
    row = _row(shown, before, after)
    st.markdown(_("Before: {before}").format(before=spoken(before.said_of(row))))
    st.markdown(_("After: {after}").format(after=spoken(after.said_of(row))))
    name = f"what-if-{shown.run.request.model}-layer{shown.layer}-head{shown.head}"
    with st.container(horizontal=True):
        for key, label, matrix, _kind in views:
            drawn = partial(canvas.head_picture, heads[key], *axes(matrix), options, shown.pins)
            _export(shown, change, f"{name}-{key}", key, label, matrix, drawn)


def _export(
    shown: Shown, change: WhatIf, name: str, key: str, label: str, matrix: Matrix, drawn: Callable[[], HeadPicture]
) -> None:
    mask, scale, more = (None, None, "") if key == "before" else said_of(shown, change)
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
