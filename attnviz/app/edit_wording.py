"""A change of mask and scale in words, for captions."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.base.words import _, listed, sentences
from attnviz.runs.model_run import Stack
from attnviz.runs.what_if import WhatIf


def said_of(stack: Stack, layer: int, change: WhatIf) -> tuple[str | None, str | None, str]:
    """The change in words: the mask and the scale (None: unchanged), and the other changes."""
    q = stack.layers[layer].q
    return said_of_head(change, stack.keys.labels, stack.layers[layer].scale, 1 if q is None else q.shape[-1])


def said_of_head(change: WhatIf, keys: Sequence[str], own: float, width: int) -> tuple[str | None, str | None, str]:
    """The same of a head with these keys, which scales scores by `own` and whose queries are `width` wide."""
    masks = {
        "none": _("none, every token may look at every token"),
        "causal": _("causal"),
        "window": _("a window of {tokens} tokens").format(tokens=change.window),
        "painted": _("painted by hand"),
    }
    scales = {"none": "1", "inverse": f"1/{width}", "factor": f"{own:.4g} × {change.factor:g}"}
    more = []
    if change.hidden:
        named = listed(f"{keys[i]} ({i})" for i in change.hidden)
        more.append(_("No token may look at: {tokens}.").format(tokens=named))
    if change.changes_attention:
        where = {
            "head": _("Changed in this head only."),
            "layer": _("Changed in every head of this layer."),
            "all": _("Changed in every layer."),
        }
        more.append(where[change.where])
    if change.silenced:
        heads = listed(f"{layer}.{head}" for layer, head in change.silenced)
        more.append(_("Silenced heads (layer.head): {heads}.").format(heads=heads))
    return masks.get(change.pattern), scales.get(change.scale), sentences(*more)


def mask_and_scale(mask: str | None, scale: str | None, own: float) -> str:
    """A sentence on both, changed or not."""
    said = _("Mask: {mask}. Scores times {scale}.")
    return said.format(mask=mask or _("the model's own"), scale=scale or f"{own:.4g}")
