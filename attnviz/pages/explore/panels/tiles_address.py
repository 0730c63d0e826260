"""Where the browser fetches the small pictures of a long sentence under the visitor's mask and scale."""

from __future__ import annotations

import numpy as np

from attnviz.app.cache import model_cache
from attnviz.canvas.head import sentence_heads
from attnviz.canvas.shared import packing
from attnviz.pages.explore.maths import head_measures
from attnviz.runs import what_if
from attnviz.runs.model_run import ModelRun, Request, Stack, StackId
from attnviz.runs.what_if import WhatIf


def address(run: ModelRun, stack: Stack, layer: int, head: int, change: WhatIf) -> str | None:
    """The address, the same for all who make this change; None where nothing is changed.

    Nothing is computed before the browser asks, and then from what was recorded: no model runs.
    """
    if not change.changes_attention:
        return None
    request, name = run.request, stack.id
    at = (layer if change.where != "all" else 0, head if change.where == "head" else 0)
    return sentence_heads.offer((request, name, "tiles", at, change), lambda: _packed(request, name, at, change))


def _packed(request: Request, name: StackId, at: tuple[int, int], change: WhatIf) -> bytes:
    run = model_cache.remembered(request)
    stack = run.stack(name)
    return model_cache.cached(
        run, ("edited tiles", name, at, change), lambda: packing.squeeze(tiles(stack, at, change))
    )


def tiles(stack: Stack, at: tuple[int, int], change: WhatIf) -> bytes:
    """The codes of all tiles, layer by layer, those that the change reaches under it."""
    own = [packing.thumbnail_codes(layer.largest) for layer in head_measures.swept(stack, measured=False)]
    for index, heads, weights, hidden in what_if.changed_layers(stack, *at, change):
        own[index][heads] = packing.thumbnails(weights, hidden)
    return np.concatenate(own).tobytes()
