"""What changes under another mask, another scale or a silenced head: before, after and the difference."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.explorer import Matrix, Stack, Trace, WhatIf, changes, head_matrix, slots
from attnviz.experiments.explorer import what_if as experiment
from attnviz.figures import attention_figures as figures
from attnviz.figures.svg_head import HeadPicture
from attnviz.models.catalogue import LoadedModel
from attnviz.ui import canvas
from attnviz.ui.explorer import edit_wording
from attnviz.ui.explorer import explorer_choices as choices
from attnviz.ui.explorer.head_panel import Shown, axes, caption_of, long_table
from attnviz.ui.shared import guard, link_state, model_cache, plain, show, spoken, widgets
from attnviz.words import _

MOST_PILLS = 200  # tokens shown as buttons; for more tokens there is a list to search in


def panel(shown: Shown) -> None:
    """Draw the controls, the three pictures, and the effect on later layers and the next token."""
    if not shown.stack.layers[shown.layer].exact:
        raise Problem("This model gives only its attention weights, so its mask and scale cannot be changed")
    left, right = st.columns([1, 2.6], gap="medium")
    with left:
        change, again = _controls(shown)
    with right:
        _consequences(shown, change, again)


def _controls(shown: Shown) -> tuple[WhatIf, bool]:
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
    return experiment.packed(current)


def _keep_mask(mask: np.ndarray) -> None:
    link_state.put(choices.PAINTED, base64.b64encode(experiment.packed(mask)).decode())


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


def _consequences(shown: Shown, change: WhatIf, again: bool) -> None:
    if not change.changes:
        st.info(_("Choose another mask or scale, hide tokens or silence a head: what changes is shown here at once."))
        return
    trace = _rerun(shown, change) if again or change.silenced else None
    before = head_matrix.head_matrix(shown.stack, shown.layer, shown.head, shown.look)
    if trace is None:
        after = experiment.instantly(shown.stack, shown.layer, shown.head, change, shown.look)
    else:
        after = head_matrix.head_matrix(_same_stack(shown, trace), shown.layer, shown.head, shown.look)
    _three(shown, change, before, after)
    if trace is not None:
        _downstream(shown, change, trace)


def _rerun(shown: Shown, change: WhatIf) -> Trace:
    place = None if change.where == "all" else (shown.layer, shown.head)
    key = ("what-if", shown.stack.id, place, change)

    loaded = _loaded(shown)
    with st.spinner(_("Running the model again…")):
        return model_cache.cached_rerun(
            shown.run,
            key,
            lambda: experiment.run_again(shown.run, loaded, shown.stack, shown.layer, shown.head, change),
        )


def _loaded(shown: Shown) -> LoadedModel:
    return model_cache.model_of(shown.run)


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
    row = min(shown.query, len(before.rows) - 1)
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
        caption=f"{label}. " + caption_of(shown, mask, scale, more),
        table=lambda: long_table(matrix),
        label=label,
    )


def said_of(shown: Shown, change: WhatIf) -> tuple[str | None, str | None, str]:
    """The change in words, for captions: the mask and the scale (None: unchanged), and the other changes."""
    return edit_wording.said_of(shown.stack, shown.layer, change)


def _downstream(shown: Shown, change: WhatIf, trace: Trace) -> None:
    run, loaded = shown.run, _loaded(shown)
    for number, (old, new) in enumerate(zip(slots(run, loaded), slots(run, loaded, trace), strict=True)):
        found, share = changes(loaded, old, new)
        words = _("{share:.1%} of the probability moved to other tokens.").format(share=share)
        show.figure(
            figures.bars(
                [c.label for c in found], [c.before for c in found], [c.after for c in found],
                labels=(_("before"), _("after")),
            ),
            name=f"what-if-next-{run.request.model}",
            key=f"what-if-next-{number}",
            words=words,
            caption=caption_of(shown, *said_of(shown, change)),
            table={"token": [c.label for c in found], "before": [c.before for c in found],
                   "after": [c.after for c in found]},
        )  # fmt: skip
    moved = experiment.moved(shown.stack, _same_stack(shown, trace))
    order = np.argsort(-moved)[:5]
    places = [(la, he) for la, layer in enumerate(shown.stack.layers) for he in range(layer.n_heads)]
    named = ", ".join(f"{places[i][0]}.{places[i][1]} ({moved[i]:.0%})" for i in order if moved[i] > 0.0005)
    if named:
        st.markdown(_("Heads whose weights moved most (share of weight, mean over rows): {heads}").format(heads=named))
    else:
        st.markdown(_("No head's weights moved by more than 0.05%."))
