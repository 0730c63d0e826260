"""Mistakes in filling what a mask hides: what is written there, and when."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import WIDTH, Sentence


# What to write where the mask hides: minus infinity, a billion, or the dtype's minimum.
def billion_written(scores: Tensor, may_attend: Tensor) -> Tensor:
    """A large number in place of minus infinity."""
    return scores.masked_fill(~may_attend, -1e9).softmax(-1)


def minimum_added_twice(scores: Tensor, may_attend: Tensor) -> Tensor:
    """The mask as numbers, added by the caller and again by the layer: the sum overflows to -inf."""
    hidden = torch.zeros_like(scores).masked_fill(~may_attend, torch.finfo(scores.dtype).min)
    return (scores + hidden + hidden).softmax(-1)


def minimum_written(scores: Tensor, may_attend: Tensor) -> Tensor:
    """The lowest number of the dtype: finite, so that no row is all -inf."""
    return scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min).softmax(-1)


def infinity_written(scores: Tensor, may_attend: Tensor) -> Tensor:
    """Minus infinity: exact, until a whole row is hidden."""
    return scores.masked_fill(~may_attend, -torch.inf).softmax(-1)


def ours(scores: Tensor, may_attend: Tensor) -> Tensor:
    """Minus infinity, and zeros for a row that is hidden as a whole."""
    empty = ~may_attend.any(-1, keepdim=True)
    masked = scores.masked_fill(~may_attend, -torch.inf).masked_fill(empty, 0.0)
    return masked.softmax(-1).masked_fill(empty, 0.0)


WAYS: tuple[tuple[Message | str, Callable[[Tensor, Tensor], Tensor]], ...] = (
    ("-1e9", billion_written),
    ("finfo.min", minimum_written),
    (Message("finfo.min, twice"), minimum_added_twice),
    ("-inf", infinity_written),
    (Message("-inf, then 0"), ours),
)
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def mask_with_an_empty_row(length: int) -> Tensor:
    """Causal, with padding in the first place: the whole first row is hidden."""
    allowed = torch.ones(length, length, dtype=torch.bool).tril()
    allowed[:, 0] = False
    return allowed


def run_fill(s: Sentence) -> Outcome:
    allowed = mask_with_an_empty_row(len(s))
    wrong, right = billion_written(s.scores, allowed), ours(s.scores, allowed)
    rows = [_row(name, way, dtype, s.scores, allowed) for dtype in DTYPES for name, way in WAYS]
    heads = (
        Message("dtype"),
        Message("hidden cells get"),
        Message("a row with nothing left"),
        Message("other rows leak"),
    )
    return Outcome(
        picture(wrong, s.words, allowed=allowed),
        picture(right, s.words, allowed=allowed),
        largest_gap(wrong, right),
        (
            Message(
                "{word} may look at nothing (it is causal, and the first place is padding). With -1e9 it still "
                "attends: {share:.0%} to each of {n} places, the hidden ones included.",
                {"word": s.words[0], "share": float(wrong[0, 0]), "n": len(s)},
            ),
            Message(
                "In float16, -1e9 cannot be written at all: the lowest number there is {lowest:,.0f}.",
                {"lowest": torch.finfo(torch.float16).min},
            ),
        ),
        (heads, *rows),
    )


def _row(
    name: Message | str, way: Callable[[Tensor, Tensor], Tensor], dtype: torch.dtype, scores: Tensor, allowed: Tensor
) -> tuple[Message | str, ...]:
    try:
        weights = way(scores.to(dtype), allowed).float()
    except RuntimeError as error:
        return _short(dtype), name, Message("error: {what}", {"what": str(error)}), "–"
    elsewhere = weights[1:].masked_fill(allowed[1:], 0.0).sum(-1)
    leak = "–" if not len(elsewhere) else f"{float(elsewhere.max()):.3g}"
    return _short(dtype), name, _empty_row(weights[0]), leak


def _empty_row(row: Tensor) -> Message:
    if bool(row.isnan().any()):
        return Message("NaN")
    if float(row.sum()) == 0:
        return Message("zeros")
    if float(row.max() - row.min()) < 1e-6:
        return Message("uniform: {share:.3f} each", {"share": float(row[0])})
    return Message("not even: up to {share:.3f}", {"share": float(row.max())})


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


FILL = Trap(
    "fill",
    Message("-1e9, -inf, or the lowest number"),
    Message(
        "A hidden cell should weigh exactly nothing. A large negative number does that until a whole row is hidden "
        "or the dtype is too narrow for it; -inf does it until a row is all -inf, and then 0/0 is NaN."
    ),
    (billion_written, minimum_added_twice, infinity_written),
    (ours,),
    run_fill,
)


# Softmax first, mask afterwards.
def wrong_softmax_first(scores: Tensor, may_attend: Tensor) -> Tensor:
    weights = scores.softmax(-1)
    return weights * may_attend  # rows no longer sum to 1


def right_softmax_first(scores: Tensor, may_attend: Tensor) -> Tensor:
    return scores.masked_fill(~may_attend, -torch.inf).softmax(-1)


def run_softmax_first(s: Sentence) -> Outcome:
    length = len(s)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    bad, good = wrong_softmax_first(s.scores, causal), right_softmax_first(s.scores, causal)
    least = int(bad.sum(-1).argmin())
    changed = s.scores.clone()
    changed[:, -1] = changed[:, -1].flip(0) + 3.0  # another last word: other scores in its column
    moved_bad = _most(wrong_softmax_first(changed, causal)[:-1] - bad[:-1])
    moved_good = _most(right_softmax_first(changed, causal)[:-1] - good[:-1])
    return Outcome(
        picture(bad, s.words, allowed=causal),
        picture(good, s.words, allowed=causal),
        largest_gap(bad, good),
        (
            Message(
                "The rows sum to {low:.2f} at the least: {word} hands out {share:.0%} of its attention, and the output "
                "shrinks with it.",
                {"low": float(bad[least].sum()), "word": s.words[least], "share": float(bad[least].sum())},
            ),
            Message(
                "The future still leaks, through the denominator: another last word moves the weights of earlier rows "
                "by up to {bad:.3f} (right: {good:.0f}).",
                {"bad": moved_bad, "good": moved_good},
            ),
        ),
    )


def _most(change: Tensor) -> float:
    return float(change.abs().max()) if change.numel() else 0.0


SOFTMAX_FIRST = Trap(
    "softmax_first",
    Message("Softmax before masking"),
    Message(
        "Zeroing weights after the softmax hides a word's value and keeps its vote: it was counted in the denominator, "
        "so rows sum to less than 1 and depend on what they may not see."
    ),
    (wrong_softmax_first,),
    (right_softmax_first,),
    run_softmax_first,
)


SHOWN_FILL = -10.0
FILLS = (-torch.inf, -1e9, -1e4, -100.0, SHOWN_FILL)


# The mask added before the scores are scaled instead of after.
def wrong_before_scaling(q: Tensor, k: Tensor, additive_mask: Tensor) -> Tensor:
    scores = q @ k.T + additive_mask
    return (scores / math.sqrt(q.shape[-1])).softmax(-1)  # divides the mask too


def right_before_scaling(q: Tensor, k: Tensor, additive_mask: Tensor) -> Tensor:
    scores = q @ k.T / math.sqrt(q.shape[-1])
    return (scores + additive_mask).softmax(-1)


def distance_penalty(length: int, slope: float = 0.5) -> Tensor:
    """ALiBi: minus slope times distance, and -inf for the future."""
    distance = torch.arange(length)[:, None] - torch.arange(length)
    return (-slope * distance).masked_fill(distance < 0, -torch.inf)


def run_before_scaling(s: Sentence) -> Outcome:
    length = len(s)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    shown = additive(causal, SHOWN_FILL)
    bad, good = wrong_before_scaling(s.q, s.k, shown), right_before_scaling(s.q, s.k, shown)
    alibi = distance_penalty(length)
    alibi_gap = largest_gap(wrong_before_scaling(s.q, s.k, alibi), right_before_scaling(s.q, s.k, alibi))
    heads = (Message("fill"), Message("leak, added before scaling"), Message("leak, added after"))
    rows = [_leaks_of(s, causal, fill) for fill in FILLS]
    return Outcome(
        picture(bad, s.words),
        picture(good, s.words),
        largest_gap(bad, good),
        (
            Message(
                "A fill of {fill:.0f} becomes {divided:.1f} when it is divided by sqrt({d}): {word} gives {bad:.1%} to "
                "the future instead of {good:.2%}.",
                {
                    "fill": SHOWN_FILL,
                    "divided": SHOWN_FILL / math.sqrt(WIDTH),
                    "d": WIDTH,
                    "word": s.words[0],
                    "bad": _leak(bad[:1], causal[:1]),
                    "good": _leak(good[:1], causal[:1]),
                },
            ),
            Message(
                "With -inf there is nothing to shrink and both agree. A position bias is a mask of small numbers, and "
                "never safe: with ALiBi (slope 0.5) a weight is off by {gap:.3f}.",
                {"gap": alibi_gap},
            ),
        ),
        (heads, *rows),
    )


def additive(allowed: Tensor, fill: float) -> Tensor:
    """0 where a query may attend, `fill` elsewhere."""
    return torch.zeros(allowed.shape).masked_fill(~allowed, fill)


def _leak(weights: Tensor, allowed: Tensor) -> float:
    return float(weights.masked_fill(allowed, 0.0).sum(-1).max())


def _leaks_of(s: Sentence, causal: Tensor, fill: float) -> tuple[Message | str, ...]:
    mask = additive(causal, fill)
    leaks = (_leak(way(s.q, s.k, mask), causal) for way in (wrong_before_scaling, right_before_scaling))
    return (f"{fill:g}", *(f"{leak:.3g}" for leak in leaks))


BEFORE_SCALING = Trap(
    "before_scaling",
    Message("The mask added before scaling"),
    Message(
        "A mask of numbers is added to the scaled scores. Added first, it is divided by sqrt(D) with them: "
        "harmless for -inf, wrong for every finite fill and for every position bias."
    ),
    (wrong_before_scaling,),
    (right_before_scaling,),
    run_before_scaling,
)
