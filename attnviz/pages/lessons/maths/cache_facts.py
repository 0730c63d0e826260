"""Lesson 7, what is kept while a model writes, and what MHA, GQA and MQA cost."""

from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from attnviz.models.architecture import Architecture, gpus, with_kv_heads
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    nearest_answer,
    require_two,
)

MODEL, NAME = "llama-3.1-8b", "Llama-3.1-8B"
TOKENS = 8192
GOES_ON, ROWS = 4, 24  #: tokens that the trained model adds to a sentence of at most so many
LETTERS, WRITTEN = 10, 8  #: of the sentence that the small decoder reads, and tokens that it writes
MIB = 2**20
GPU = "a100-80gb"


@dataclass(frozen=True)
class FilmedText:
    """The text that a decoder continues in the film, its number of tokens, and the number that it writes."""

    trained: bool  #: else the small decoder of the core
    text: str
    prompt: int
    written: int


def choose_filmed_text(subject: Subject, trained: bool = True) -> FilmedText:
    """Choose what is filmed: the whole sentence for the trained model, if it fits, else its first letters."""
    if trained and subject.run is not None and len(subject.tokens) <= ROWS:
        return FilmedText(True, subject.text, len(subject.tokens), GOES_ON)
    first = subject.text[:LETTERS]
    return FilmedText(False, first, len(first.encode()), WRITTEN)


@fact
def steps(subject: Subject) -> Facts:
    """Tokens that pass through the model to write some more: all again at every step, or each once with a cache."""
    film = choose_filmed_text(subject)
    anew, once = sum(film.prompt + i for i in range(film.written)), film.prompt + film.written - 1
    return Facts(
        {
            "n": film.prompt,
            "text": film.text,
            "written": film.written,
            "anew": anew,
            "once": once,
            "times": anew / once,
        }
    )


@fact
def unchanged(subject: Subject) -> Facts:
    """The keys and values of the head's first tokens, before and after another token follows."""
    texts = subject.token_texts
    require_two(texts)
    shorter, longer = subject.of_text("".join(texts[:-1])), subject.query_numbers()
    pairs = zip(shorter.tokens, subject.tokens, strict=False)
    same = len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])  # without its end a text may be cut otherwise
    before = shorter.query_numbers()
    difference = max(
        float(np.abs(old[:same] - new[:same]).max()) for old, new in ((before.k, longer.k), (before.v, longer.v))
    )
    size = float(np.abs(longer.k).max())
    return Facts(
        {"last": subject.tokens[-1], "difference": difference, "size": size},
        "no" if difference < 1e-4 * size else "yes",
    )


@fact
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


def cache_bytes(kv_heads: int) -> int:
    """Bytes of one text's KV cache with `kv_heads` K/V heads."""
    return with_kv_heads(Architecture.preset(MODEL), kv_heads).kv_cache_bytes(TOKENS)


@fact
def three(_subject: Subject) -> Facts:
    heads = Architecture.preset(MODEL).layers[0].n_heads
    mha, gqa, mqa = cache_bytes(heads), cache_bytes(8), cache_bytes(1)
    return Facts(
        {"model": NAME, "heads": heads, "tokens": TOKENS, "mha": mha // MIB, "gqa": gqa // MIB, "mqa": mqa // MIB},
        nearest_answer({"quarter": 4, "eighth": 8, "half": 2}, mha / gqa),
    )


@fact
def room(_subject: Subject) -> Facts:
    """Number of conversations of this length that fit beside the weights, as counted on the page about sharing."""
    heads, gpu = Architecture.preset(MODEL).layers[0].n_heads, gpus()[GPU]
    free = gpu.machine.memory - 2 * total_parameters()
    rooms = {name: free // cache_bytes(kv_heads) for name, kv_heads in (("mha", heads), ("gqa", 8), ("mqa", 1))}
    return Facts({"model": NAME, "gpu": gpu.name, "gib": gpu.machine.memory // 2**30, "tokens": TOKENS} | rooms)


def total_parameters() -> int:
    """Every weight of the model, from its config: embedding, attention, feed-forward, norms, output."""
    arch = Architecture.preset(MODEL)
    config = arch.config
    assert config is not None
    width, layers = config.hidden_size, config.num_hidden_layers
    outside = 2 * config.vocab_size * width + width
    return int(outside + arch.attention_parameters() + layers * (3 * width * config.intermediate_size + 2 * width))
