"""Lesson 7, what is kept while a model writes, and what MHA, GQA and MQA cost."""

from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from attnviz.base.words import N_
from attnviz.models.architecture import Architecture, gpus, with_kv_heads
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
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


def three(_subject: Subject) -> Facts:
    heads = Architecture.preset(MODEL).layers[0].n_heads
    mha, gqa, mqa = cache_bytes(heads), cache_bytes(8), cache_bytes(1)
    return Facts(
        {"model": NAME, "heads": heads, "tokens": TOKENS, "mha": mha // MIB, "gqa": gqa // MIB, "mqa": mqa // MIB},
        nearest_answer({"quarter": 4, "eighth": 8, "half": 2}, mha / gqa),
    )


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


LESSON = Lesson(
    "cache",
    N_("What is kept while a model writes"),
    (
        LessonStep(
            N_("Writing goes token by token"),
            N_(
                "A model writes one token, puts it after the text, and reads again. “{text}” has tokens: {n}. To write "
                "{written} more, reading everything anew each time, {anew} pass through the model."
            ),
            LessonPicture("player", {"decoder": "trained"}),
            N_("Play the film, step by step: which row is new?"),
            steps,
            notes=Notes(N_("With a cache it is {once}: each token passes once, {times:.1f} times fewer."), "", 4),
            terms=("next_token", "prefill", "decode"),
            page="decoding",
        ),
        LessonStep(
            N_("Old keys and values stay"),
            N_(
                "A new token, “{last}”, arrives at the end. Its query needs the :orange[keys] and :green[values] of "
                "all tokens before it. These are the head’s own."
            ),
            LessonPicture("story", {"from": "vectors", "to": "roles"}),
            N_("Take the last word of the sentence away, and compare the strips above it."),
            unchanged,
            Question(
                N_("Do the keys and values of the earlier tokens change?"),
                N_(
                    "The largest difference is {difference:.1g}, of numbers up to {size:.1f}. Under a causal mask "
                    "earlier tokens never hear of later ones, so their keys and values can be kept: the KV cache."
                ),
                {"yes": N_("yes, a little"), "no": N_("no")},
            ),
            notes=Notes(
                N_("Queries are not kept: an old query asks nothing any more."), N_("They want to keep queries too."), 4
            ),
            terms=("kv_cache", "key", "value"),
            page="decoding",
        ),
        LessonStep(
            N_("How much that is"),
            N_(
                "{model} keeps a key and a value of {width} numbers in {kv_heads} heads of {layers} layers, 2 bytes "
                "each: {token} KiB for each token, {gib:.0f} GiB for {tokens:,} tokens."
            ),
            LessonPicture("growth"),
            N_("Move the slider to the length of a book chapter."),
            bytes_held,
            notes=Notes(N_("2 × {kv_heads} × {width} × {layers} × 2 bytes. Let the room multiply it out."), "", 3),
            terms=("kv_cache",),
            page="decoding",
            page_choices={"d_view": "bytes"},
        ),
        LessonStep(
            N_("Share keys and values"),
            N_(
                "{heads} query heads need not have {heads} heads of keys and values. MHA: one each. GQA: several query "
                "heads share one. MQA: all share a single one."
            ),
            LessonPicture("tokens"),
            N_("Compare the three drawings."),
            three,
            Question(
                N_("GQA with 8 K/V heads instead of {heads}: how much of the cache is left?"),
                N_("For {tokens:,} tokens of {model}: MHA {mha:,} MiB, GQA {gqa:,} MiB, MQA {mqa:,} MiB."),
                {"half": N_("one half"), "quarter": N_("one quarter"), "eighth": N_("one eighth")},
            ),
            LessonPicture("sharing"),
            Notes(
                N_("Queries stay {heads}: each still looks in its own way, in fewer sets of keys."),
                N_("They think GQA has fewer heads. It has fewer K/V heads."),
                4,
            ),
            ("mha", "gqa", "mqa"),
            "sharing",
        ),
        LessonStep(
            N_("What it is for"),
            N_(
                "In the {gib} GiB of an {gpu}, beside the weights of {model} in 16 bit, there is room for {mha} texts "
                "of {tokens:,} tokens with MHA, {gqa} with GQA and {mqa:,} with MQA."
            ),
            LessonPicture("sharing"),
            N_("Say which of the three you would choose, and what you would want to know first."),
            room,
            notes=Notes(
                N_("Sharing is paid in quality: MQA loses most, GQA little. Share heads quotes the paper’s table."),
                "",
                4,
            ),
            terms=("gqa", "kv_cache"),
            page="sharing",
            page_choices={"h_view": "size"},
        ),
    ),
    summary=N_(
        "A model keeps keys and values, and computes each once. Sharing them makes room for {gqa} texts where {mha} "
        "fitted."
    ),
)
