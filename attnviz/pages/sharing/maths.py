"""One attention layer of the core as MHA, GQA and MQA, on this machine: its cache filled, one token decoded."""

import statistics
import time
from dataclasses import dataclass, replace

import torch

from attnviz.base.message import Problem
from attnviz.core.cache import KVCache
from attnviz.core.costs import count_parameters, kv_bytes
from attnviz.core.heads import HeadLayout, SharingKind
from attnviz.core.modules import Attention, seeded_generator

MOST_BYTES = 1 << 29


@dataclass(frozen=True)
class Config:
    """Sizes of the layer that is built and timed."""

    d_model: int = 1024
    n_heads: int = 16
    n_kv_heads: int = 4
    d_head: int = 64
    tokens: int = 4096
    rounds: int = 15


@dataclass(frozen=True)
class LiveLayerRow:
    """One layout, measured and by formula."""

    kind: SharingKind
    n_kv_heads: int
    cache_bytes: int  #: bytes in use in the filled cache
    formula_bytes: int
    parameters: int  #: counted on the module
    formula_parameters: int
    seconds: float  #: median time to decode one token
    ratio: float  #: how many times faster than MHA


def run(config: Config) -> tuple[LiveLayerRow, ...]:
    """Measure MHA, GQA (when it differs from both) and MQA, interleaved so that a busy machine slows all alike."""
    shape = HeadLayout(config.d_model, config.n_heads, config.n_kv_heads, config.d_head)
    layouts = [replace(shape, n_kv_heads=g) for g in sorted({config.n_heads, config.n_kv_heads, 1}, reverse=True)]
    needed = max(kv_bytes(layout, config.tokens, dtype="float32") for layout in layouts)
    if needed > MOST_BYTES:
        raise Problem(
            "{tokens} tokens of {n_heads} heads need {needed} MiB; at most {most} MiB are measured here",
            tokens=config.tokens,
            n_heads=config.n_heads,
            needed=needed >> 20,
            most=MOST_BYTES >> 20,
        )
    filled_layers = [_build_filled_layer(layout, config.tokens) for layout in layouts]
    times: list[list[float]] = [[] for _ in filled_layers]
    x = torch.randn(1, 1, config.d_model, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        for _ in range(config.rounds + 2):
            for i, (module, cache) in enumerate(filled_layers):
                started = time.perf_counter()
                module(x, cache=cache)
                times[i].append(time.perf_counter() - started)
                cache.seen -= 1  # so that every round decodes at the same position
    seconds = [statistics.median(durations[2:]) for durations in times]
    return tuple(
        LiveLayerRow(
            layout.kind,
            layout.kv_heads,
            cache.used_nbytes,
            kv_bytes(layout, len(cache), dtype="float32"),
            sum(p.numel() for p in module.parameters()),
            count_parameters(layout).total,
            median,
            seconds[0] / median,
        )
        for layout, (module, cache), median in zip(layouts, filled_layers, seconds, strict=True)
    )


def _build_filled_layer(layout: HeadLayout, tokens: int) -> tuple[Attention, KVCache]:
    """A layer, and a cache of `tokens` tokens with room for one more."""
    with seeded_generator(0):
        module = Attention(layout, use_fused=True).eval()
    cache = KVCache(layout, capacity=tokens + 1)
    generator = torch.Generator().manual_seed(0)
    k = torch.randn(1, layout.kv_heads, tokens, layout.qk_width, generator=generator)
    v = torch.randn(1, layout.kv_heads, tokens, layout.v_width, generator=generator)
    cache.append(k, v)
    return module, cache
