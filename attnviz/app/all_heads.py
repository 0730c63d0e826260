"""All heads of a short sentence at one address, from which the browser takes them by itself."""

from collections.abc import Callable
from typing import Any

from attnviz.analysis.head_matrix import raw_heads
from attnviz.analysis.model_run import ModelRun, Request, Stack, StackId
from attnviz.app.cache import model_cache
from attnviz.canvas.head import ahead
from attnviz.live.head_header import name_tokens


def offer_heads(run: ModelRun, stack: Stack) -> str | None:
    """Address from which the browser fetches all heads; None where the sentence is too long.

    All visitors who read this sentence share it.
    """
    return offer_bytes(run.request, stack.id, ("all heads",), pack_heads) if sends_all_heads(stack) else None


def sends_all_heads(stack: Stack) -> bool:
    """Whether the browser is sent all heads, and so makes thumbnails under a change itself."""
    return ahead.is_short_enough(len(stack.places), len(stack.queries), len(stack.keys))


def pack_heads(stack: Stack) -> bytes:
    """Pack all heads for the browser."""
    counts = [layer.n_heads for layer in stack.layers]
    return ahead.sentence_blob(name_tokens(*stack.tokens), counts, raw_heads(stack.layers))


def offer_bytes(request: Request, stack_id: StackId, key: tuple[Any, ...], pack: Callable[[Stack], bytes]) -> str:
    """Address of `pack(stack)`, computed once for all visitors while the run is in memory."""

    def packed() -> bytes:
        run = model_cache.run_in_memory(request)
        return model_cache.cached_result(run, (*key, stack_id), lambda: pack(run.stack(stack_id)))

    return ahead.offer_bytes((request, stack_id, *key), packed)
