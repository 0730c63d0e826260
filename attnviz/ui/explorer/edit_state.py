"""The mask and the scale that a visitor put on the head on show: between the link, the canvas and the experiment."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, cast

from attnviz.experiments.explorer import (
    Look,
    MaskChoice,
    Matrix,
    ModelRun,
    ScaleChoice,
    Stack,
    WhatIf,
    head_matrix,
    raw_head,
    what_if,
)
from attnviz.ui import canvas
from attnviz.ui.explorer import explorer_choices as choices
from attnviz.ui.shared import link_state, model_cache, widgets


def chosen(stack: Stack) -> WhatIf:
    """The change of mask and scale that the link holds, as far as this sentence has its tokens."""
    keys = tuple(key for key in link_state.value(choices.HIDDEN) if isinstance(key, int))
    asked = canvas.HeadEdit(
        link_state.value(choices.MASK),
        link_state.value(choices.WINDOW),
        keys,
        base64.b64decode(link_state.value(choices.PAINTED) or ""),
        link_state.value(choices.SCALE),
        link_state.value(choices.FACTOR),
        link_state.value(choices.WHERE),
    )
    return fitted(asked, len(stack.queries), len(stack.keys))[0]


def fitted(edit: canvas.HeadEdit, n_q: int, n_k: int | None = None) -> tuple[WhatIf, canvas.HeadEdit]:
    """An edit as a change and as an edit, as far as a sentence of so many queries and keys has its tokens."""
    n_k = n_q if n_k is None else n_k
    keys = tuple(sorted({key for key in edit.hidden if 0 <= key < n_k}))
    painted = edit.painted if len(edit.painted) == -(-n_q * n_k // 8) else b""
    mask = "model" if edit.mask == "painted" and not painted else edit.mask
    change = WhatIf(
        cast(Any, mask), edit.window, keys, painted, cast(Any, edit.scale), edit.factor, cast(Any, edit.where)
    )
    seen = edit.seen if change.changes_attention else "before"
    return change, replace(edit, mask=mask, hidden=keys, painted=painted, seen=seen)


def on_canvas(change: WhatIf) -> canvas.HeadEdit:
    """The change as the canvas has it."""
    return canvas.HeadEdit(
        change.pattern,
        change.window,
        change.hidden,
        change.painted,
        change.scale,
        change.factor,
        change.where,
        link_state.value(choices.SEEN),
    )


def keep(edit: canvas.HeadEdit) -> None:
    """Keep what a hand has changed; in the link it is one step. A callback."""
    window, factor = choices.WINDOW, choices.FACTOR
    link_state.put_all({
        choices.MASK: edit.mask,
        window: min(edit.window, choices.LONGEST_WINDOW),
        choices.HIDDEN: edit.hidden,
        choices.PAINTED: base64.b64encode(edit.painted).decode() or None if edit.mask == "painted" else None,
        choices.SCALE: edit.scale,
        factor: min(edit.factor, choices.LARGEST_FACTOR),
        choices.WHERE: edit.where,
        choices.SEEN: edit.seen,
    })  # fmt: skip


def say_refusals(stack: Stack) -> None:
    """Say why parts of the link that are about mask and scale are not used."""
    widgets.chosen_of(choices.HIDDEN, range(len(stack.keys)))
    for choice in (choices.MASK, choices.WINDOW, choices.HIDDEN, choices.SCALE, choices.FACTOR, choices.WHERE):
        widgets.say_refusal(choice)


def seen(stack: Stack, layer: int, change: WhatIf) -> str:
    """What of the change is on show: "before" where there is nothing to show."""
    return link_state.value(choices.SEEN) if change.changes_attention and stack.layers[layer].exact else "before"


def matrix(run: ModelRun, stack: Stack, layer: int, head: int, look: Look, change: WhatIf, seen: str) -> Matrix:
    """The head on show: before, after, or what the change makes of it."""
    if seen != "after":
        key = ("head", stack.id, layer, head, look)
        before = model_cache.cached(run, key, lambda: head_matrix.head_matrix(stack, layer, head, look))
    if seen == "before":
        return before
    after = what_if.instantly(stack, layer, head, change, look)
    return after if seen == "after" else after.minus(before)


def mask_and_scale(stack: Stack, layer: int, change: WhatIf, seen: str) -> tuple[MaskChoice, ScaleChoice]:
    """What the head on show is computed with: the model's own before the change."""
    if seen == "before":
        return "model", "model"
    chosen_layer = stack.layers[layer]
    return what_if.mask_of(change, chosen_layer), what_if.scale_of(change, chosen_layer)


def raw(stack: Stack, layer: int, head: int, look: Look) -> canvas.Raw | None:
    """What the browser computes the head's weights from; None for a layer that gives only its weights."""
    chosen_layer = stack.layers[layer]
    if not chosen_layer.exact:
        return None
    rows, cols = head_matrix.axes(stack, look)
    norms = chosen_layer.value_norms()[0, head].float().cpu().numpy() if look.values == "values" else None
    whole = [tuple((i,) for i in range(n)) for n in (len(stack.queries), len(stack.keys))]
    return canvas.Raw(
        raw_head(stack, layer, head),
        None if rows.positions == whole[0] else rows.positions,
        None if cols.positions == whole[1] else cols.positions,
        rows.merged,
        look.renormalise,
        norms,
    )
