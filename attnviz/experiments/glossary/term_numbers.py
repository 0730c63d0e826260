"""Every number that a term's explanation holds, computed from the core and from published architectures."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import torch

from attnviz.core import masks
from attnviz.core.costs import kv_bytes
from attnviz.core.heads import HeadLayout
from attnviz.core.measures import entropy
from attnviz.models.architecture import Architecture

WORDS = 10  #: tokens of the small examples
CHOICES = 8  #: keys that share attention evenly
WIDTH = 64  #: d_k of the example
CONTEXT = 8192
_GIB = 1 << 30


@cache
def numbers() -> dict[str, float | int]:
    """Number by the name that it has in the sentences."""
    return {**_softmax(), **_masks(), **_llama(), **_others()}


def _softmax() -> dict[str, float | int]:
    scores = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
    low, middle, high = scores.softmax(-1).tolist()
    even = float(entropy(torch.full((CHOICES,), 1 / CHOICES, dtype=torch.float64)))
    return {
        "low": low,
        "middle": middle,
        "high": high,
        "high_hot": float((scores / 2).softmax(-1)[-1]),
        "choices": CHOICES,
        "even": even,
        "effective": math.exp(even),
        "bits": 1 / math.log(2),
        "width": WIDTH,
        "scale": WIDTH**-0.5,
    }


def _masks() -> dict[str, float | int]:
    return {
        "words": WORDS,
        "pairs": WORDS * WORDS,
        "causal_pairs": int(masks.causal(WORDS, WORDS).sum()),
        "window": 4,
        "window_pairs": int(masks.sliding_window(WORDS, WORDS, 4).sum()),
    }


def _llama() -> dict[str, float | int]:
    """Llama-3.1-8B as it is, and its cache if it had other numbers of K/V heads."""
    llama = Architecture.preset("llama-3.1-8b")
    layer = llama.layers[0]
    layout = HeadLayout(layer.d_model, layer.n_heads, layer.n_kv_heads, layer.d_head)
    token = llama.kv_cache_bytes(tokens=1, batch=1, dtype="bfloat16")

    def gib(n_kv_heads: int) -> float:
        one = kv_bytes(replace(layout, n_kv_heads=n_kv_heads), CONTEXT, dtype="bfloat16")
        return one * len(llama.layers) / _GIB

    return {
        "llama_layers": len(llama.layers),
        "llama_heads": layer.n_heads,
        "llama_kv_heads": layer.n_kv_heads,
        "llama_group": layer.n_heads // layer.n_kv_heads,
        "token_kib": token // 1024,
        "context": CONTEXT,
        "mha_gib": gib(layer.n_heads),
        "gqa_gib": gib(layer.n_kv_heads),
        "mqa_mib": gib(1) * 1024,
    }


def _others() -> dict[str, float | int]:
    small, deepseek = Architecture.preset("smollm2-135m"), Architecture.preset("deepseek-v3").layers[0]
    return {
        "small_layers": len(small.layers),
        "small_heads": small.layers[0].n_heads,
        "small_all": len(small.layers) * small.layers[0].n_heads,
        "small_kv_heads": small.layers[0].n_kv_heads,
        "latent": deepseek.cached,
        "latent_heads": deepseek.n_heads,
    }
