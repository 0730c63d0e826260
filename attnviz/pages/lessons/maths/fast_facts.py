"""A lesson on why flash attention is fast: tiles, an online softmax, rounding, bytes, a cache in blocks."""

import math

import numpy as np

from attnviz.base import units
from attnviz.base.words import N_
from attnviz.models.architecture import gpus
from attnviz.pages.fast.maths import cost, numerics, paged, tiles
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
    nearest_answer,
)

GPU = "a100-80gb"
TIMES = {"three": 3, "thirty": 30, "hundreds": 300}  #: id of an answer -> times fewer bytes


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


LESSON = Lesson(
    "fast",
    N_("Why flash attention is fast"),
    (
        LessonStep(
            N_("A matrix that nobody needs"),
            N_(
                "{heads} heads look from {tokens:,} tokens at {tokens:,}: their scores take {scores}, while Q, K, V "
                "and the output take {held}. Once the output is there, the scores are thrown away."
            ),
            LessonPicture("tiles"),
            N_("Step through the film: where do scores lie, and for how long?"),
            too_large,
            Question(
                N_("Never storing the matrix: how many times fewer bytes go between slow and fast memory?"),
                N_("Whole {whole}, in tiles {tiled}: {times:.1f} times fewer."),
                {"three": N_("about 3"), "thirty": N_("about 30"), "hundreds": N_("about 300")},
            ),
            LessonPicture("traffic"),
            Notes(
                N_("A GPU computes much faster than it moves. What it moves is what takes time."),
                N_("They think that fewer bytes need fewer multiplications."),
                4,
            ),
            ("tile", "score"),
            "fast",
            {"fast_section": "cost"},
        ),
        LessonStep(
            N_("A softmax that does not wait"),
            N_(
                "Softmax needs the largest score and the sum of the whole row, and a tile shows {block} of its "
                "{tokens} keys. So each row keeps the largest so far, the sum so far and its output so far."
            ),
            LessonPicture("tiles", {"at": "before"}),
            N_("Find query {query} in the tile at work."),
            rises,
            Question(
                N_(
                    "Query {query} has the sum {sum:.2f}, with {was:.2f} as its largest score. Now comes {now:.2f}. "
                    "What becomes of that sum?"
                ),
                N_(
                    "Each of its terms was e^(score − {was:.2f}) and has to be e^(score − {now:.2f}): times "
                    "{factor:.2f}, which is {scaled:.2f}. With this tile’s own terms it is {after:.2f}."
                ),
                {
                    "stays": N_("It stays"),
                    "scaled": N_("It is multiplied by e^(old − new)"),
                    "again": N_("It starts again at 0"),
                },
            ),
            after=LessonPicture("tiles"),
            notes=Notes(N_("The output so far is multiplied by the same number, for the same reason."), "", 5),
            terms=("online_softmax", "softmax"),
            page="fast",
        ),
        LessonStep(
            N_("The same numbers"),
            N_(
                "Nothing is left out or estimated. Tile by tile the output differs from the whole matrix’s by "
                "{difference:.0e} of its largest value."
            ),
            LessonPicture("rounding"),
            N_("Look where float16 without the maximum ends."),
            exact,
            Question(
                N_("Over {keys:,} keys, which is nearer to float64: tiles or the whole row at once, both in float32?"),
                N_(
                    "Tiles err by {tiled:.1e}, the whole row by {whole:.1e}: sums in another order round otherwise. "
                    "Sums kept in bfloat16 err by {low:.1%}, so they are kept in 32 bits: {mixed:.1%}."
                ),
                {"tiles": N_("tiles, by far"), "row": N_("the whole row, by far"), "alike": N_("they are alike")},
            ),
            notes=Notes(
                N_("Exact is what sets it apart from sparse and linear attention."),
                N_("They take it for an approximation."),
                4,
            ),
            terms=("online_softmax",),
            page="fast",
            page_choices={"fast_section": "numerics"},
        ),
        LessonStep(
            N_("What it saves"),
            N_("One layer, {tokens:,} tokens, an {gpu} at its best: {whole} with the whole matrix, {tiled} in tiles."),
            LessonPicture("roof"),
            N_("Find both points: which roof is over each?"),
            saved,
            Question(
                N_("It is {times:.1f} times as fast. How many FLOPs does it do?"),
                N_("Whole {whole_flops}, in tiles {flops}. What it saves is moving."),
                {"fewer": N_("fewer"), "same": N_("as many")},
            ),
            notes=Notes(N_("By formula, from the maker’s numbers. The page also shows what was measured."), "", 4),
            terms=("roofline", "flop"),
            page="fast",
            page_choices={"fast_section": "cost"},
        ),
        LessonStep(
            N_("The cache in pages"),
            N_(
                "The same thought for the KV cache: blocks of {block} tokens, found by a table. {requests} requests "
                "come and go."
            ),
            LessonPicture("blocks"),
            N_("Find a block that several requests share."),
            in_blocks,
            notes=Notes(
                N_(
                    "After step {step} one piece for each reserves {reserved} tokens for {used}, and {lost:.0%} is "
                    "lost. Blocks hold {held}, and {less:.0%} is lost."
                ),
                "",
                4,
            ),
            terms=("paged_cache", "kv_cache"),
            page="fast",
            page_choices={"fast_section": "paged"},
        ),
    ),
    summary=N_(
        "Tiles never store the scores, and blocks never reserve what is not there: at its fullest {lost:.0%} of the "
        "reserved cache was empty, in blocks {less:.0%}."
    ),
)
