"""Facts that need no sentence: what a cache takes, why tiles are fast, how a head is born."""

from dataclasses import dataclass
from functools import cache
from math import log

import numpy as np

from attnviz.base import units
from attnviz.models.architecture import Architecture, count_parameters, gpus, with_kv_heads
from attnviz.pages.born.maths import life
from attnviz.pages.fast.maths import cost as layer_cost
from attnviz.pages.fast.maths import numerics, paged, tiles
from attnviz.pages.lessons.maths.lesson_parts import Facts, Subject, fact, nearest_answers

MODEL, NAME = "llama-3.1-8b", "Llama-3.1-8B"
TOKENS = 8192
GOES_ON, ROWS = 4, 24  #: tokens that the trained model adds to a sentence of at most so many
LETTERS, WRITTEN = 10, 8  #: of the sentence that the small decoder reads, and tokens that it writes
GPU = "a100-80gb"
SENTENCE = "the cat saw a red bird"  #: which the small model of the last lessons knows


@dataclass(frozen=True)
class FilmedText:
    """The text that a decoder continues in the film, its number of tokens, and the number that it writes."""

    trained: bool  #: else the small decoder of the core
    text: str
    prompt: int
    written: int


def choose_filmed_text(subject: Subject, trained: bool = True) -> FilmedText:
    """Choose what is filmed: the whole sentence for the trained model, if it fits, else its first letters."""
    if trained and subject.is_trained and len(subject.tokens) <= ROWS:
        return FilmedText(True, subject.text, len(subject.tokens), GOES_ON)
    first = subject.text[:LETTERS]
    return FilmedText(False, first, len(first.encode()), WRITTEN)


@fact()
def steps(subject: Subject) -> Facts:
    """Tokens that pass through the model to write some more: all again at every step, or each once with a cache."""
    film = choose_filmed_text(subject)
    anew, once = sum(film.prompt + i for i in range(film.written)), film.prompt + film.written - 1
    values = {"n": film.prompt, "text": film.text, "written": film.written, "anew": anew, "once": once}
    return Facts(values | {"times": anew / once})


@fact()
def kv_cache(_subject: Subject) -> Facts:
    """The cache of a published model, and what it would be with other numbers of K/V heads."""
    arch = Architecture.preset(MODEL)
    layer = arch.layers[0]
    return Facts(
        {
            "model": NAME,
            "layers": arch.blocks,
            "heads": layer.n_heads,
            "kv_heads": layer.n_kv_heads,
            "width": layer.d_head,
            "token": arch.kv_cache_bytes(1) // 2**10,
            "tokens": TOKENS,
            "gib": arch.kv_cache_bytes(TOKENS) / 2**30,
            **{name: held // 2**20 for name, held in _cache_bytes().items()},
        }
    )


def _cache_bytes() -> dict[str, int]:
    arch = Architecture.preset(MODEL)
    schemes = {"mha": arch.layers[0].n_heads, "gqa": 8, "mqa": 1}
    return {name: with_kv_heads(arch, kv_heads).kv_cache_bytes(TOKENS) for name, kv_heads in schemes.items()}


@fact(kv_cache)
def three(_subject: Subject) -> Facts:
    """How much of the cache GQA leaves."""
    held = _cache_bytes()
    return Facts({}, nearest_answers({"quarter": 4, "eighth": 8, "half": 2}, held["mha"] / held["gqa"]))


@fact(kv_cache)
def room(_subject: Subject) -> Facts:
    """Number of conversations of this length that fit beside the weights, as counted on the page about sharing."""
    gpu = gpus()[GPU]
    free = gpu.machine.memory - 2 * total_parameters()
    fitting = {name: free // size for name, size in _cache_bytes().items()}
    return Facts({"gpu": gpu.name, "gib": gpu.machine.memory // 2**30} | fitting)


@cache
def total_parameters() -> int:
    """Every weight of the model."""
    arch = Architecture.preset(MODEL)
    assert arch.config is not None
    return count_parameters(arch.config, arch.layers).total


@fact(kv_cache)
def share(_subject: Subject) -> Facts:
    """What part of the model's weights attention has."""
    attention, every = Architecture.preset(MODEL).attention_parameters(), total_parameters()
    values = {"share": attention / every, "attention": attention / 1e9, "all": every / 1e9}
    return Facts(values, nearest_answers({"sixth": 1 / 6, "half": 1 / 2, "most": 9 / 10}, attention / every))


@fact()
def too_large(_subject: Subject) -> Facts:
    """Bytes that one layer moves with the whole matrix, and in tiles."""
    costs = layer_cost.run(layer_cost.Config())
    whole, tiled = costs.whole_matrix.bytes_moved.total, costs.tiles.bytes_moved.total
    at = layer_cost.LENGTHS.index(costs.config.tokens)
    sizes = {"scores": costs.score_bytes[at], "held": costs.qkv_output_bytes[at], "whole": whole, "tiled": tiled}
    values = {"heads": costs.config.heads, "tokens": costs.config.tokens, "times": whole / tiled}
    answers = {"three": log(3), "thirty": log(30), "hundreds": log(300)}
    return Facts(
        values | {name: units.binary(size) for name, size in sizes.items()},
        nearest_answers(answers, log(whole / tiled)),
    )


@fact()
def rises(_subject: Subject) -> Facts:
    """The row whose running maximum rises most at the middle tile, and its rescaled sum."""
    film = tiles.run(tiles.Config())
    (row, col), size = film.tiles[film.middle_step], film.config.block_q
    was, now = (film.line_stats[0, block, row * size : (row + 1) * size] for block in (col - 1, col))
    line = int(np.exp(was - now).argmin())
    at, factor = row * size + line, float(np.exp(was[line] - now[line]))
    before, after = (float(film.line_stats[1, block, at]) for block in (col - 1, col))
    values = {"block": size, "tokens": film.config.tokens, "query": at + 1, "sum": before, "after": after}
    values |= {"was": float(was[line]), "now": float(now[line]), "factor": factor, "scaled": before * factor}
    return Facts(values, ("scaled" if factor < 1 else "stays",))


@fact()
def exact(_subject: Subject) -> Facts:
    """How far rounding takes tiles, the whole row at once, and sums in 16 bits."""
    result = numerics.run(numerics.Config())
    tiled, low, mixed = (float(result.errors[way][-1]) for way in ("float32", "bfloat16", "mixed"))
    whole, difference = float(result.whole_row_errors[-1]), tiles.run(tiles.Config()).difference
    values = {"keys": numerics.LENGTHS[-1], "tiled": tiled, "whole": whole, "low": low, "mixed": mixed}
    right = "alike" if 0.5 < tiled / whole < 2 else "tiles" if tiled < whole else "row"
    return Facts(values | {"difference": difference}, (right,))


@fact()
def saved(_subject: Subject) -> Facts:
    """The time of one layer at best on a GPU, both ways."""
    costs, gpu = layer_cost.run(layer_cost.Config()), gpus()[GPU]
    ways = {"whole": costs.whole_matrix, "tiled": costs.tiles}
    seconds = {name: way.roofline_step(gpu.machine).seconds for name, way in ways.items()}
    values = {"gpu": gpu.name, "tokens": costs.config.tokens, "times": seconds["whole"] / seconds["tiled"]}
    values |= {"flops": units.flop(costs.tiles.flops), "whole_flops": units.flop(costs.whole_matrix.flops)}
    return Facts(
        values | {name: units.duration(time) for name, time in seconds.items()},
        ("same" if costs.whole_matrix.flops == costs.tiles.flops else "fewer",),
    )


@fact()
def in_blocks(_subject: Subject) -> Facts:
    """What is lost at the fullest step, reserved in one piece and held in blocks."""
    result = paged.run(paged.Config())
    step = int(result.reserved.argmax())
    curves = {"reserved": result.reserved, "used": result.used, "held": result.block_capacity}
    counts = {name: int(curve[step]) for name, curve in curves.items()}
    values = {"requests": result.config.requests, "block": result.config.block, "step": step}
    lost = {"lost": 1 - counts["used"] / counts["reserved"], "less": 1 - int(result.written[step]) / counts["held"]}
    return Facts({**values, **counts, **lost})


def repeat_sentence(subject: Subject) -> life.RepeatedWords:
    """Repeat the sentence's first words once; those of the lesson where there are too few."""
    config = life.read(life.LIFE).config
    repeated = subject.first_words if len(subject.first_words) >= config.lags[0] else SENTENCE.split()
    return life.repeat_words(" ".join(repeated), config)


@fact()
def training(_subject: Subject) -> Facts:
    """The small model whose training is filmed, before it and at its end."""
    run = life.read(life.LIFE)
    config, accuracy = run.config, run.accuracy
    values = {"layers": config.layers, "heads": config.heads, "words": config.words, "steps": config.steps}
    heads = {"one": run.strongest_head(run.previous), "two": run.strongest_head(run.induction)}
    ends = {"before": accuracy[0], "whole": accuracy[-1]}
    return Facts(values | ends | {name: f"{layer}.{head}" for name, (layer, head) in heads.items()})


@fact()
def cliff(_subject: Subject) -> Facts:
    """Step at which the second copy is predicted, and the steps of a tenth and of nine tenths of it."""
    run = life.read(life.LIFE)
    learned = run.cliff or run.config.steps
    low, high = (int(run.at[(run.accuracy >= level).argmax()]) for level in (life.BEGUN, life.DONE))
    guesses = {"hundred": log(100), "three": log(300), "thousand": log(1000)}
    return Facts({"cliff": learned, "low": low, "high": high}, nearest_answers(guesses, log(learned)))


@fact(training)
def order(_subject: Subject) -> Facts:
    """Step at which a head of each kind has half of its weight on its pattern."""
    run = life.read(life.LIFE)
    before, after = run.find_pattern_step(run.previous) or 0, run.find_pattern_step(run.induction) or 0
    right = "before" if before < after else "after" if after < before else "both"
    return Facts({"before": before, "after": after}, (right,))


@fact(training)
def silenced(_subject: Subject) -> Facts:
    """Accuracy that is left at the end without the first layer's head."""
    run = life.read(life.LIFE)
    head = run.strongest_head(run.previous)
    left = float(life.measure_without_heads(life.LIFE, (head,))[-1, 1])
    return Facts(
        {"head": f"{head[0]}.{head[1]}", "share": left}, nearest_answers({"all": 1.0, "half": 0.5, "few": 0.0}, left)
    )


@fact(silenced)
def one_layer(_subject: Subject) -> Facts:
    """Accuracy of one layer, and of two with the first fixed at blur."""
    alone, blurred = life.read("one-layer"), life.read(life.BLURRED)
    values = {"steps": alone.config.steps, "alone": alone.accuracy[-1], "blurred": blurred.accuracy[-1]}
    return Facts(values, ("yes" if alone.cliff is not None else "no",))
