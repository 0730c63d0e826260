"""What if: another mask, another scale, a silenced head; before, after and the difference."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.explorer import what_if as experiment
from attnviz.experiments.explorer.heads import Matrix, head_matrix
from attnviz.experiments.explorer.predictions import changes, slots
from attnviz.experiments.explorer.reading import Stack
from attnviz.experiments.explorer.what_if import WhatIf
from attnviz.figures import attention as figures
from attnviz.models.trace import Trace
from attnviz.ui import canvas, readings, show
from attnviz.ui.controls import choice
from attnviz.ui.explore import state
from attnviz.ui.explore.heads import Shown, caption_of, long_table
from attnviz.ui.text import plain, spoken
from attnviz.words import _


@st.fragment
def panel(shown: Shown) -> None:
    """The controls, the three pictures, and what follows downstream."""
    if not shown.stack.layers[shown.layer].exact:
        raise Problem("This model gives its weights only: its mask and scale cannot be changed")
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
    pattern = choice(_("Mask"), patterns, "mask", style="select")
    change = WhatIf(pattern=cast(Any, pattern))
    if pattern == "window":
        window = st.slider(_("Tokens in the window"), 1, 64, 4, key="window", bind="query-params")
        change = replace(change, window=window)
    if pattern == "painted":
        change = replace(change, painted=_paint(shown))
    scales = {"model": _("the model's own"), "none": _("no scaling"), "inverse": _("1/d_k"), "factor": _("a factor")}
    scale = choice(_("Scale of the scores"), scales, "scale", style="select")
    change = replace(change, scale=cast(Any, scale))
    if scale == "factor":
        factor = st.slider(_("Times the model's own scale"), 0.0, 10.0, 1.0, 0.05, key="factor", bind="query-params")
        change = replace(change, factor=factor)
    change = replace(change, hidden=_hidden(shown.stack), silenced=_silenced(shown))
    where = choice(
        _("Change it in"), {"head": _("this head"), "layer": _("this layer"), "all": _("all layers")}, "where"
    )
    change = replace(change, where=cast(Any, where))
    again = st.toggle(
        _("Run the model again"),
        key="again",
        bind="query-params",
        help=_("Off: this head alone, from its recorded Q and K. On: later layers and the next token follow too."),
    )
    return change, again


def _paint(shown: Shown) -> bytes:
    """The painted mask, kept in the link where it fits."""
    stack = shown.stack
    n_q, n_k = len(stack.queries), len(stack.keys)
    current = ~head_matrix(stack, shown.layer, shown.head).hidden
    kept = _bits(state.kept_canvas().get("mask"))
    if kept:
        current = experiment.unpacked(kept, n_q, n_k)
    others = None if stack.same_tokens else stack.keys.labels
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
    state.keep_on_canvas("mask", base64.b64encode(experiment.packed(mask)).decode())


def _bits(text: object) -> bytes:
    try:
        return base64.b64decode(text) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        return b""


def _hidden(stack: Stack) -> tuple[int, ...]:
    """Tokens that nobody may look at, chosen by clicking them."""
    labels = stack.keys.labels
    raw = state.kept_canvas().get("hide")
    start = [i for i in raw if isinstance(i, int) and 0 <= i < len(labels)] if isinstance(raw, list) else []
    with st.popover(_("Hide tokens"), icon=":material/visibility_off:", width="stretch"):
        chosen = st.pills(
            _("Nobody may look at these:"),
            range(min(len(labels), 200)),
            selection_mode="multi",
            default=start,
            format_func=lambda i: plain(labels[i]),
            key=f"hide-{hash(labels)}",
        )
    hidden = tuple(sorted(chosen or ()))
    if list(hidden) != start:
        state.keep_on_canvas("hide", list(hidden) or None)
    if hidden:
        st.caption(_("Hidden: {tokens}").format(tokens=", ".join(plain(labels[i]) for i in hidden)))
    return hidden


def _silenced(shown: Shown) -> tuple[tuple[int, int], ...]:
    everyone = [f"{la}.{he}" for la, layer in enumerate(shown.stack.layers) for he in range(layer.n_heads)]
    raw = state.kept_canvas().get("quiet")
    start = [name for name in raw if name in everyone] if isinstance(raw, list) else []
    chosen = st.multiselect(
        _("Silence heads (layer.head)"),
        everyone,
        default=start,
        key=f"quiet-{shown.stack.id}-{len(everyone)}",
        placeholder=_("none"),
        help=_("Their output is replaced by zeros, and the model runs again without them."),
    )
    if chosen != start:
        state.keep_on_canvas("quiet", chosen or None)
    return tuple((int(a), int(b)) for a, b in (name.split(".") for name in chosen))


def _consequences(shown: Shown, change: WhatIf, again: bool) -> None:
    if not change.changes:
        st.info(_("Choose another mask or scale, hide tokens or silence a head: what changes is shown here at once."))
        return
    trace = _rerun(shown, change) if again or change.silenced else None
    before = head_matrix(shown.stack, shown.layer, shown.head, shown.look)
    if trace is None:
        after = experiment.instantly(shown.stack, shown.layer, shown.head, change, shown.look)
    else:
        after = head_matrix(_same_stack(shown, trace), shown.layer, shown.head, shown.look)
    _three(shown, before, after)
    if trace is not None:
        _downstream(shown, trace)


def _rerun(shown: Shown, change: WhatIf) -> Trace:
    place = None if change.where == "all" else (shown.layer, shown.head)
    key = ("what-if", shown.stack.id, place, change)

    def compute() -> Trace:
        with readings.shared().turns, st.spinner(_("Running the model again…")):
            return experiment.run_again(shown.reading, shown.stack, shown.layer, shown.head, change)

    return shown.reading.kept_lately(key, compute)


def _same_stack(shown: Shown, trace: Trace) -> Stack:
    return next(stack for stack in shown.reading.again(trace) if stack.id == shown.stack.id)


def _three(shown: Shown, before: Matrix, after: Matrix) -> None:
    difference = after.minus(before)
    options = replace(shown.options, compact=True, chips=False, lines=False)
    views = [
        ("before", _("Before"), before, "weights"),
        ("after", _("After"), after, "weights"),
        ("difference", _("Difference"), difference, "diff"),
    ]
    if shown.look.values == "values":
        views = [(key, name, matrix, "diff" if kind == "diff" else "values") for key, name, matrix, kind in views]
        options = replace(options, top=float(max(np.nanmax(before.plain), np.nanmax(after.plain))))
    for column, (key, name, matrix, kind) in zip(st.columns(3), views, strict=True):
        with column:
            cols = None if matrix.looks_at_itself else matrix.cols
            head = canvas.Head(matrix.values, name, matrix.hidden, cast(Any, kind))
            canvas.head_view(f"what-if-{key}", head, matrix.rows, cols, options=options, group="heads")
    row = min(shown.query, len(before.rows) - 1)
    st.markdown(_("Before: {before}").format(before=spoken(before.said_of(row))))
    st.markdown(_("After: {after}").format(after=spoken(after.said_of(row))))
    name = f"what-if-{shown.reading.request.model}-layer{shown.layer}-head{shown.head}"
    with st.container(horizontal=True):
        for key, label, matrix, kind in views:
            _export(shown, f"{name}-{key}", key, label, matrix, kind)


def _export(shown: Shown, name: str, key: str, label: str, matrix: Matrix, kind: str) -> None:
    def drawn() -> Any:
        kinds: dict[str, Literal["scores", "plain", "weights"]] = {"diff": "scores", "values": "plain"}
        drawn_as = kinds.get(kind, "weights")
        return figures.head(matrix.values, matrix.rows, matrix.cols, matrix.hidden, kind=drawn_as, title=label)

    caption = caption_of(shown, change=f"{label.lower()}, ")
    show.under(
        drawn, name=name, key=f"what-if-{key}-out", caption=caption, table=lambda: long_table(matrix), label=label
    )


def _downstream(shown: Shown, trace: Trace) -> None:
    reading = shown.reading
    for number, (old, new) in enumerate(zip(slots(reading), slots(reading, trace), strict=True)):
        found, share = changes(reading, old, new)
        words = _("{share:.1%} of the probability changed place.").format(share=share)
        show.figure(
            figures.bars(
                [c.label for c in found], [c.before for c in found], [c.after for c in found],
                labels=(_("before"), _("after")),
            ),
            name=f"what-if-next-{reading.request.model}",
            key=f"what-if-next-{number}",
            words=words,
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
