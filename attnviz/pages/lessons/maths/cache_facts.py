"""Lesson 7, what is kept while a model writes, and what MHA, GQA and MQA cost."""

from __future__ import annotations

import numpy as np

from attnviz.models.architecture import Architecture, gpus, shared_otherwise
from attnviz.pages.lessons.maths.subject import Facts, Subject

MODEL, NAME = "llama-3.1-8b", "Llama-3.1-8B"
TOKENS = 8192
WRITTEN = 16
MIB = 2**20
GPU = "a100-80gb"


def steps(subject: Subject) -> Facts:
    """Tokens that pass through the model to write some more: all again at every step, or each once."""
    prompt = len(subject.tokens)
    anew = sum(prompt + i for i in range(WRITTEN))
    once = prompt + WRITTEN - 1
    return Facts({"n": prompt, "written": WRITTEN, "anew": anew, "once": once, "times": anew / once})


def unchanged(subject: Subject) -> Facts:
    """The keys and values of the first words, before and after another word follows."""
    words = subject.words
    if len(words) < 2:
        return Facts({"last": words[-1], "difference": 0.0}, "no")
    whole, shorter = subject.by_hand(mask="causal").tensors, subject.by_hand(words[:-1], mask="causal").tensors
    difference = max(float(np.abs(whole[name][0, 0, :-1] - shorter[name][0, 0]).max()) for name in "KV")
    return Facts({"last": words[-1], "difference": difference}, "no" if difference < 1e-6 else "yes")


def bytes_held(_subject: Subject) -> Facts:
    arch = Architecture.preset(MODEL)
    layer = arch.layers[0]
    assert layer.d_head is not None
    return Facts(
        {
            "model": NAME,
            "layers": arch.blocks,
            "kv_heads": layer.n_kv_heads,
            "width": layer.d_head,
            "token": arch.kv_cache_bytes(1) // 1024,
            "tokens": TOKENS,
            "gib": arch.kv_cache_bytes(TOKENS) / (1024 * MIB),
        }
    )


def held(kv_heads: int, tokens: int = TOKENS, batch: int = 1) -> int:
    """Bytes of the cache with so many K/V heads."""
    return shared_otherwise(Architecture.preset(MODEL), kv_heads).kv_cache_bytes(tokens, batch)


def three(_subject: Subject) -> Facts:
    heads = Architecture.preset(MODEL).layers[0].n_heads
    mha, gqa, mqa = held(heads), held(8), held(1)
    near = {"quarter": 4.0, "eighth": 8.0, "half": 2.0}
    right = min(near, key=lambda name: abs(near[name] - mha / gqa))
    return Facts(
        {"model": NAME, "heads": heads, "tokens": TOKENS, "mha": mha // MIB, "gqa": gqa // MIB, "mqa": mqa // MIB},
        right,
    )


def room(_subject: Subject) -> Facts:
    """How many conversations of this length fit beside the weights, counted as on the page about sharing."""
    heads, gpu = Architecture.preset(MODEL).layers[0].n_heads, gpus()[GPU]
    free = gpu.machine.memory - 2 * total_parameters()
    rooms = {name: free // held(kv_heads) for name, kv_heads in (("mha", heads), ("gqa", 8), ("mqa", 1))}
    return Facts({"model": NAME, "gpu": gpu.name, "gib": gpu.machine.memory // 2**30, "tokens": TOKENS, **rooms})


def total_parameters() -> int:
    """Every weight of the model, from its config: embedding, attention, feed-forward, norms, output."""
    arch = Architecture.preset(MODEL)
    config = arch.config
    assert config is not None
    width, layers = config.hidden_size, config.num_hidden_layers
    outside = 2 * config.vocab_size * width + width
    return int(outside + arch.attention_parameters() + layers * (3 * width * config.intermediate_size + 2 * width))
