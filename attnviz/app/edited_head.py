"""A head under a change of mask and scale, as the start page, the explorer and lessons draw it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from attnviz import canvas
from attnviz.app.cache import model_cache
from attnviz.models.capture import MaskChoice, ScaleChoice
from attnviz.runs import head_matrix, what_if
from attnviz.runs.head_matrix import Look, Matrix
from attnviz.runs.model_run import ModelRun, Stack
from attnviz.runs.raw_heads import raw_head
from attnviz.runs.what_if import WhatIf


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
