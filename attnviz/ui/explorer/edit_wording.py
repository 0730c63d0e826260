"""A change of mask and scale in words, for captions."""

from __future__ import annotations

from attnviz.experiments.explorer import Stack, WhatIf
from attnviz.words import _, listed, sentences


def said_of(stack: Stack, layer: int, change: WhatIf) -> tuple[str | None, str | None, str]:
    """The change in words: the mask and the scale (None: unchanged), and the other changes."""
    masks = {
        "none": _("none, every token may look at every token"),
        "causal": _("causal"),
        "window": _("a window of {tokens} tokens").format(tokens=change.window),
        "painted": _("painted by hand"),
    }
    own, q = stack.layers[layer].scale, stack.layers[layer].q
    width = 1 if q is None else q.shape[-1]
    scales = {"none": "1", "inverse": f"1/{width}", "factor": f"{own:.4g} × {change.factor:g}"}
    more = []
    if change.hidden:
        named = listed(f"{stack.keys.labels[i]} ({i})" for i in change.hidden)
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
