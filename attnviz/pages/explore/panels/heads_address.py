"""Where the browser fetches all heads of a short sentence, before they are looked at."""

from __future__ import annotations

from attnviz import canvas
from attnviz.app.cache import model_cache
from attnviz.canvas.head import sentence_heads
from attnviz.runs.model_run import ModelRun, Request, Stack, StackId
from attnviz.runs.raw_heads import raw_heads


def address(run: ModelRun, stack: Stack) -> str | None:
    """The address, the same for all visitors who read this sentence; None where the sentence is too long for it."""
    heads = sum(layer.n_heads for layer in stack.layers)
    if not sentence_heads.fits(heads, len(stack.queries), len(stack.keys)):
        return None
    request, name = run.request, stack.id
    return sentence_heads.offer((request, name), lambda: _packed(request, name))


def _packed(request: Request, name: StackId) -> bytes:
    run = model_cache.remembered(request)
    stack = run.stack(name)
    return model_cache.cached(run, ("all heads", name), lambda: _pack(stack))


def _pack(stack: Stack) -> bytes:
    keys = None if stack.same_tokens else stack.keys.labels
    document = canvas.document(stack.queries.labels, keys)
    return sentence_heads.blob_of(document, [layer.n_heads for layer in stack.layers], raw_heads(stack))
