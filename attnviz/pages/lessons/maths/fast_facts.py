"""A lesson on why flash attention is fast: tiles, an online softmax, rounding, bytes, a cache in blocks."""

import math

import numpy as np

from attnviz.base import units
from attnviz.models.architecture import gpus
from attnviz.pages.fast.maths import cost, numerics, paged, tiles
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    nearest_answer,
)

GPU = "a100-80gb"
TIMES = {"three": 3, "thirty": 30, "hundreds": 300}  #: id of an answer -> times fewer bytes


@fact
def too_large(_subject: Subject) -> Facts:
    """Bytes that one layer moves with the whole matrix, and in tiles."""
    costs = cost.run(cost.Config())
    untiled, tiled = costs.whole_matrix.bytes_moved, costs.tiles.bytes_moved
    at = cost.LENGTHS.index(costs.config.tokens)
    values = {
        "heads": costs.config.heads,
        "tokens": costs.config.tokens,
        "scores": units.binary(costs.score_bytes[at]),
        "held": units.binary(costs.qkv_output_bytes[at]),
        "whole": units.binary(untiled.total),
        "tiled": units.binary(tiled.total),
        "times": untiled.total / tiled.total,
    }
    return Facts(
        values,
        nearest_answer(
            {name: math.log(n) for name, n in TIMES.items()},
            math.log(costs.whole_matrix.bytes_moved.total / tiled.total),
        ),
    )


@fact
def rises(_subject: Subject) -> Facts:
    """The row whose running maximum rises most at the middle tile, and its rescaled sum."""
    film = tiles.run(tiles.Config())
    row, col = film.tiles[film.middle_step]
    size = film.config.block_q
    before_max, after_max = (film.line_stats[0, block, row * size : (row + 1) * size] for block in (col - 1, col))
    line = int(np.exp(before_max - after_max).argmin())
    at = row * size + line
    before, factor = float(film.line_stats[1, col - 1, at]), float(np.exp(before_max[line] - after_max[line]))
    values = {
        "block": size,
        "tokens": film.config.tokens,
        "query": at + 1,
        "was": float(before_max[line]),
        "now": float(after_max[line]),
        "sum": before,
        "factor": factor,
        "scaled": before * factor,
        "after": float(film.line_stats[1, col, at]),
    }
    return Facts(values, "scaled" if factor < 1 else "stays")


@fact
def exact(_subject: Subject) -> Facts:
    """How far rounding takes tiles, the whole row at once, and sums in 16 bits."""
    result = numerics.run(numerics.Config())
    errors = {way: float(error_curve[-1]) for way, error_curve in result.errors.items()}
    return Facts(
        {
            "keys": numerics.LENGTHS[-1],
            "tiled": errors["float32"],
            "whole": float(result.whole_row_errors[-1]),
            "low": errors["bfloat16"],
            "mixed": errors["mixed"],
            "difference": tiles.run(tiles.Config()).difference,
        },
        "alike"
        if 0.5 < errors["float32"] / result.whole_row_errors[-1] < 2
        else ("tiles" if errors["float32"] < result.whole_row_errors[-1] else "row"),
    )


@fact
def saved(_subject: Subject) -> Facts:
    """The time of one layer at best on a GPU, both ways."""
    costs, gpu = cost.run(cost.Config()), gpus()[GPU]
    untiled, tiled = (way.roofline_step(gpu.machine) for way in (costs.whole_matrix, costs.tiles))
    values = {
        "gpu": gpu.name,
        "tokens": costs.config.tokens,
        "whole": units.duration(untiled.seconds),
        "tiled": units.duration(tiled.seconds),
        "times": untiled.seconds / tiled.seconds,
        "flops": units.flop(costs.tiles.flops),
        "whole_flops": units.flop(costs.whole_matrix.flops),
    }
    return Facts(values, "same" if costs.whole_matrix.flops == costs.tiles.flops else "fewer")


@fact
def in_blocks(_subject: Subject) -> Facts:
    """What is lost at the fullest step, reserved in one piece and held in blocks."""
    result = paged.run(paged.Config())
    step = int(result.reserved.argmax())
    reserved, used, allocated, written = (
        int(curve[step]) for curve in (result.reserved, result.used, result.block_capacity, result.written)
    )
    return Facts(
        {
            "requests": result.config.requests,
            "block": result.config.block,
            "step": step,
            "reserved": reserved,
            "used": used,
            "held": allocated,
            "lost": 1 - used / reserved,
            "less": 1 - written / allocated,
        }
    )
