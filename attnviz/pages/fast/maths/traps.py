"""Mistakes with tiles: wrong and right code in one plain loop, and what both give in the visitor's own sentence."""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attnviz.analysis.traps import Outcome, Trap, compare_matrices, source_code
from attnviz.analysis.word_vectors import Sentence
from attnviz.base.message import Message
from attnviz.core import masks

ROWS, BLOCK = 2, 4  #: queries and keys of a tile
SHARP = 12.0  #: what the largest score is stretched to where float16 is to overflow
Running = tuple[Tensor, Tensor, Tensor]  #: of each row: largest score so far, sum, output


# A tile is added to what its rows keep.
def right_fold(running: Running, scores: Tensor, visible: Tensor, values: Tensor) -> Running:
    highest, total, output = running
    scores = scores.masked_fill(~visible, -torch.inf)
    new = torch.maximum(highest, scores.amax(-1))
    below = new.masked_fill(new == -torch.inf, 0.0)
    rescale, weights = (highest - below).exp(), (scores - below[:, None]).exp()
    return new, total * rescale + weights.sum(-1), output * rescale[:, None] + weights @ values


def right_visible(allowed: Tensor, start: int) -> Tensor:
    return F.pad(allowed, (0, BLOCK), value=False)[:, start : start + BLOCK]  # no key, no weight


def right_tile_count(rows_end: int) -> int:
    return math.ceil(rows_end / BLOCK)  # tiles of keys that rows before this one may see


def attend_in_tiles(
    q: Tensor,
    k: Tensor,
    allowed: Tensor,
    fold: Callable[..., Running] = right_fold,
    visible: Callable[[Tensor, int], Tensor] = right_visible,
    tile_count: Callable[[int], int] = lambda _end: 10**9,
) -> Tensor:
    """With the identity as values, the output is the weights, (T, T). The last tile is filled up with zeros."""
    outputs, count = [], math.ceil(len(k) / BLOCK)
    keys, values = F.pad(k, (0, 0, 0, BLOCK)), F.pad(torch.eye(len(k), dtype=k.dtype), (0, 0, 0, BLOCK))
    for first in range(0, len(q), ROWS):
        rows = q[first : first + ROWS]
        running = (
            rows.new_full((len(rows),), -torch.inf),
            rows.new_zeros(len(rows)),
            rows.new_zeros(len(rows), len(k)),
        )
        for tile in range(min(count, tile_count(min(first + ROWS, len(q))))):
            cols = slice(tile * BLOCK, (tile + 1) * BLOCK)
            scores = rows @ keys[cols].T / math.sqrt(q.shape[1])
            running = fold(running, scores, visible(allowed[first : first + ROWS], tile * BLOCK), values[cols])
        _highest, total, output = running
        outputs.append(torch.where(total[:, None] == 0, output, output / total[:, None]))
    return torch.cat(outputs)


# No maximum is subtracted.
def wrong_no_maximum(running: Running, scores: Tensor, visible: Tensor, values: Tensor) -> Running:
    highest, total, output = running
    weights = scores.masked_fill(~visible, -torch.inf).exp()  # above 65,504 it is inf in float16
    return highest, total + weights.sum(-1), output + weights @ values


def run_no_maximum(s: Sentence) -> Outcome:
    allowed = torch.ones(len(s), len(s), dtype=torch.bool)
    top = s.scores.max() if s.scores.max() > 0 else s.scores.min()  # where all are below 0, the vectors turn round
    q = (s.q * SHARP / top).half()
    bad, good = (attend_in_tiles(q, s.k.half(), allowed, fold) for fold in (wrong_no_maximum, right_fold))
    lost = len(s) - int(((bad.float().sum(-1) - 1).abs() < 0.1).sum())  # no number, or nothing but 0
    fact = Message(
        "In float16, with scores stretched until the largest is {top:.0f}: e^{top:.0f} is {power:,.0f}, above 65,504. "
        "Rows whose weights do not sum to 1: {lost} of {n}. With the maximum subtracted no exponential is above 1.",
        {"top": SHARP, "power": math.exp(SHARP), "lost": lost, "n": len(s)},
    )
    return compare_matrices(bad, good, s.words, fact, allowed=allowed)


# The mask comes once the sum is made.
def wrong_mask_late(running: Running, scores: Tensor, visible: Tensor, values: Tensor) -> Running:
    highest, total, output = running
    new = torch.maximum(highest, scores.amax(-1))
    rescale, weights = (highest - new).exp(), (scores - new[:, None]).exp()
    total = total * rescale + weights.sum(-1)
    weights = weights.masked_fill(~visible, 0.0)  # too late: the sum has them already
    return new, total, output * rescale[:, None] + weights @ values


def run_mask_late(s: Sentence) -> Outcome:
    allowed = masks.causal(len(s))
    bad, good = (attend_in_tiles(s.q, s.k, allowed, fold) for fold in (wrong_mask_late, right_fold))
    fact = Message(
        "No later word gets any weight, and still the weights of {word} sum to {sum:.2f} instead of 1: hidden keys are "
        "in the sum that it is divided by.",
        {"word": s.words[0], "sum": float(bad[0].sum())},
    )
    return compare_matrices(bad, good, s.words, fact, allowed=allowed)


# The last tile is filled up with zeros, and these are keys like any other.
def wrong_last_tile(allowed: Tensor, start: int) -> Tensor:
    return F.pad(allowed, (0, BLOCK), value=True)[:, start : start + BLOCK]  # a key of zeros has the score 0


def run_last_tile(s: Sentence) -> Outcome:
    allowed, missing = torch.ones(len(s), len(s), dtype=torch.bool), -len(s) % BLOCK
    bad, good = (attend_in_tiles(s.q, s.k, allowed, visible=visible) for visible in (wrong_last_tile, right_visible))
    fact = (
        Message(
            "A sentence of length {n} in tiles of {block} keys: the last one is filled up with {missing}. Each has the "
            "score 0 and a weight of its own, so that the weights of {word} sum to {sum:.2f}.",
            {"n": len(s), "block": BLOCK, "missing": missing, "word": s.words[-1], "sum": float(bad[-1].sum())},
        )
        if missing
        else Message(
            "A sentence of length {n} fills its tiles of {block} keys, and nothing goes wrong: add a word.",
            {"n": len(s), "block": BLOCK},
        )
    )
    return compare_matrices(bad, good, s.words, fact, allowed=allowed)


# How many tiles of keys a causal mask leaves is rounded down.
def wrong_skipped(rows_end: int) -> int:
    return rows_end // BLOCK  # the tile that the diagonal cuts is left out


def run_skipped(s: Sentence) -> Outcome:
    allowed = masks.causal(len(s))
    bad, good = (
        attend_in_tiles(s.q, s.k, allowed, tile_count=tile_count) for tile_count in (wrong_skipped, right_tile_count)
    )
    lost = (good * (bad == 0)).sum(-1)
    fact = Message(
        "Tiles of {rows} queries and {block} keys: rows that lose weight are {lost} of {n}. The row of {word} loses "
        "{share:.0%}; a row that keeps some shares it out as if nothing were missing.",
        {
            "rows": ROWS,
            "block": BLOCK,
            "lost": int((lost > 0).sum()),
            "n": len(s),
            "word": s.words[int(lost.argmax())],
            "share": float(lost.max()),
        },
    )
    return compare_matrices(bad, good, s.words, fact, allowed=allowed)


# A row sees no key of its first tile.
def wrong_empty_row(running: Running, scores: Tensor, visible: Tensor, values: Tensor) -> Running:
    highest, total, output = running
    scores = scores.masked_fill(~visible, -torch.inf)
    new = torch.maximum(highest, scores.amax(-1))  # -inf where there is no key so far
    rescale, weights = (highest - new).exp(), (scores - new[:, None]).exp()  # -inf minus -inf is no number
    return new, total * rescale + weights.sum(-1), output * rescale[:, None] + weights @ values


def run_empty_row(s: Sentence) -> Outcome:
    padded = min(BLOCK, len(s) // 2)
    allowed = masks.causal(len(s))
    allowed[:, :padded] = False
    bad, good = (attend_in_tiles(s.q, s.k, allowed, fold) for fold in (wrong_empty_row, right_fold))
    values = {
        "padded": padded,
        "lost": int(bad.isnan().any(-1).sum()),
        "n": len(s),
        "empty": int((~allowed.any(-1)).sum()),
        "block": BLOCK,
    }
    if not padded:
        fact = Message("With one word there is nothing to hide.")
    elif values["lost"] > values["empty"]:
        fact = Message(
            "The first {padded} {padded:word is|words are} taken as padding and hidden. Rows without a number: {lost} "
            "of {n}, though "
            "only {empty} see no key at all: a row whose first tile is hidden never comes back.",
            values,
        )
    else:
        fact = Message(
            "Words taken as padding and hidden: {padded}, less than a tile of {block} keys. Rows without a number: "
            "{lost} of {n}, those that see no key at all. Add words, so that a whole tile is hidden.",
            values,
        )
    return compare_matrices(bad, good, s.words, fact, allowed=allowed)


TILE_TRAPS: dict[str, Trap] = {
    trap.id: trap
    for trap in (
        Trap(
            "no_maximum",
            Message("No maximum subtracted"),
            Message(
                "Softmax does not change when the same number is taken off all scores of a row. Taking off the largest "
                "keeps every exponential at 1 or below; without it one large score is infinite in float16."
            ),
            (wrong_no_maximum,),
            (right_fold,),
            run_no_maximum,
        ),
        Trap(
            "mask_late",
            Message("The mask comes after the sum"),
            Message(
                "Hidden scores must be −∞ before the tile’s maximum and sum are taken. Weights that are set to 0 "
                "afterwards are gone from the output, but not from the sum."
            ),
            (wrong_mask_late,),
            (right_fold,),
            run_mask_late,
        ),
        Trap(
            "last_tile",
            Message("The last tile is not masked"),
            Message(
                "Lengths are seldom a multiple of the tile. What fills up the last one must be masked: a key of zeros "
                "has the score 0, and e^0 is 1."
            ),
            (wrong_last_tile,),
            (right_visible,),
            run_last_tile,
        ),
        Trap(
            "skipped",
            Message("One causal tile too many is skipped"),
            Message(
                "Under a causal mask tiles above the diagonal are skipped, nearly half of the work. The tile that the "
                "diagonal cuts is needed: the number of tiles is rounded up."
            ),
            (wrong_skipped,),
            (right_tile_count,),
            run_skipped,
        ),
        Trap(
            "empty_row",
            Message("A row that sees nothing yet"),
            Message(
                "Where all scores so far are hidden, the largest is −∞, and −∞ − (−∞) is no number. Padding on the "
                "left and sliding windows bring such rows."
            ),
            (wrong_empty_row,),
            (right_fold,),
            run_empty_row,
        ),
    )
}

_PROGRAM = """\
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from attnviz.pages.fast.maths.traps import TILE_TRAPS
from attnviz.analysis.word_vectors import sentence
from torch import Tensor

ROWS, BLOCK = {rows}, {block}
Running = tuple[Tensor, Tensor, Tensor]


{loop}

s = sentence({tokens!r}, seed={seed})  # a random vector for each word
allowed = torch.ones(len(s), len(s), dtype=torch.bool).tril()
tiled = attend_in_tiles(s.q, s.k, allowed)
exact = F.scaled_dot_product_attention(s.q, s.k, torch.eye(len(s)), attn_mask=allowed)
print(f"the plain loop against torch: {{(tiled - exact).abs().max():.1e}}")
print(f"largest difference of a weight: {{TILE_TRAPS[{trap!r}].run(s).largest:.3f}}")
"""


def program(trap: Trap, tokens: tuple[str, ...], seed: int) -> str:
    """The plain loop that the trap runs in, held to torch; prints the largest difference of a weight."""
    loop: tuple[Any, ...] = (right_fold, right_visible, right_tile_count, attend_in_tiles)
    return _PROGRAM.format(rows=ROWS, block=BLOCK, loop=source_code(loop), tokens=tokens, seed=seed, trap=trap.id)
