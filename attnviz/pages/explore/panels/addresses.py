"""Where the browser fetches what it may need next: heads of a short sentence, small pictures of a long one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnviz.app.cache import model_cache
from attnviz.base.head_edit import HeadEdit
from attnviz.canvas.head import sentence_heads
from attnviz.canvas.shared import blobs, packing
from attnviz.pages.explore.maths import head_measures
from attnviz.runs import what_if
from attnviz.runs.model_run import ModelRun, Request, Stack, StackId
from attnviz.runs.raw_heads import raw_heads


def of_heads(run: ModelRun, stack: Stack) -> str | None:
    """The address of all heads, before they are looked at; None where the sentence is too long for it.

    It is the same for all visitors who read this sentence.
    """
    heads = sum(layer.n_heads for layer in stack.layers)
    if not sentence_heads.fits(heads, len(stack.queries), len(stack.keys)):
        return None
    request, name = run.request, stack.id
    return sentence_heads.offer((request, name), lambda: _packed_heads(request, name))


def _packed_heads(request: Request, name: StackId) -> bytes:
    run = model_cache.remembered(request)
    stack = run.stack(name)
    return model_cache.cached(run, ("all heads", name), lambda: _pack(stack))


def _pack(stack: Stack) -> bytes:
    keys = None if stack.same_tokens else stack.keys.labels
    document = blobs.document(stack.queries.labels, keys)
    return sentence_heads.blob_of(document, [layer.n_heads for layer in stack.layers], raw_heads(stack))


def of_tiles(run: ModelRun, stack: Stack, layer: int, head: int, edit: HeadEdit) -> str | None:
    """The address of the small pictures under the visitor's mask and scale; None where nothing is changed.

    It is the same for all who make this change, whatever of it they look at. Nothing is computed before the browser
    asks, and then from what was recorded: no model runs.
    """
    if not edit.changes_attention:
        return None
    request, name, change = run.request, stack.id, replace(edit, seen="after")
    place = (layer if edit.where != "all" else 0, head if edit.where == "head" else 0)
    return sentence_heads.offer(
        (request, name, "tiles", place, change), lambda: _packed_tiles(request, name, place, change)
    )


def _packed_tiles(request: Request, name: StackId, place: tuple[int, int], edit: HeadEdit) -> bytes:
    run = model_cache.remembered(request)
    stack = run.stack(name)
    key = ("edited tiles", name, place, edit)
    return model_cache.cached(run, key, lambda: packing.squeeze(tiles(stack, place, edit)))


def tiles(stack: Stack, place: tuple[int, int], edit: HeadEdit) -> bytes:
    """The codes of all tiles, layer by layer, those that the edit reaches under it."""
    own = [packing.thumbnail_codes(layer.largest) for layer in head_measures.swept(stack, measured=False)]
    for index, heads, weights, hidden in what_if.changed_layers(stack, *place, edit):
        own[index][heads] = packing.thumbnails(weights, hidden)
    return np.concatenate(own).tobytes()
