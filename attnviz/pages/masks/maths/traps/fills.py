"""Mistakes in filling what a mask hides: what is written there, when, and whether at all."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnviz.analysis.traps import Outcome, compare_matrices, largest_gap
from attnviz.analysis.word_vectors import WIDTH, Sentence
from attnviz.base.message import Message
from attnviz.base.rounding import Rounded
from attnviz.core import masks


# What to write where the mask hides: minus infinity, a billion, or the dtype's minimum.
def fill_with_billion(scores: Tensor, may_attend: Tensor) -> Tensor:
    """A large number in place of minus infinity."""
    return scores.masked_fill(~may_attend, -1e9).softmax(-1)


def add_minimum_twice(scores: Tensor, may_attend: Tensor) -> Tensor:
    """The mask as numbers, added by the caller and again by the layer: the sum overflows to -inf."""
    hidden = torch.zeros_like(scores).masked_fill(~may_attend, torch.finfo(scores.dtype).min)
    return (scores + hidden + hidden).softmax(-1)


def fill_with_minimum(scores: Tensor, may_attend: Tensor) -> Tensor:
    """The lowest number of the dtype: finite, so that no row is all -inf."""
    return scores.masked_fill(~may_attend, torch.finfo(scores.dtype).min).softmax(-1)


def fill_with_infinity(scores: Tensor, may_attend: Tensor) -> Tensor:
    """Minus infinity: exact, until a whole row is hidden."""
    return scores.masked_fill(~may_attend, -torch.inf).softmax(-1)


def zero_empty_rows(scores: Tensor, may_attend: Tensor) -> Tensor:
    """Minus infinity, and zeros for a row that is hidden as a whole."""
    empty = ~may_attend.any(-1, keepdim=True)
    masked = scores.masked_fill(~may_attend, -torch.inf).masked_fill(empty, 0.0)
    return masked.softmax(-1).masked_fill(empty, 0.0)


WAYS: tuple[tuple[Message | str, Callable[[Tensor, Tensor], Tensor]], ...] = (
    ("-1e9", fill_with_billion),
    ("finfo.min", fill_with_minimum),
    (Message("finfo.min, twice"), add_minimum_twice),
    ("-inf", fill_with_infinity),
    (Message("-inf, then 0"), zero_empty_rows),
)
DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def build_mask_with_empty_row(length: int) -> Tensor:
    """Causal mask (T, T) with padding at position 0, so that the first row is empty."""
    return masks.causal(length) & (torch.arange(length) > 0)


def run_fill(s: Sentence) -> Outcome:
    allowed = build_mask_with_empty_row(len(s))
    wrong, right = fill_with_billion(s.scores, allowed), zero_empty_rows(s.scores, allowed)
    headings = (
        Message("dtype"),
        Message("hidden cells get"),
        Message("a row with nothing left"),
        Message("other rows leak"),
    )
    return compare_matrices(
        wrong,
        right,
        s.words,
        Message(
            "{word} may look at nothing (it is causal, and the first place is padding). With -1e9 it still "
            "attends: {share:.0%} to every place, the hidden ones included.",
            {"word": s.words[0], "share": float(wrong[0, 0])},
        ),
        Message(
            "In float16, -1e9 cannot be written at all: the lowest number there is {lowest:,.0f}.",
            {"lowest": torch.finfo(torch.float16).min},
        ),
        allowed=allowed,
        table=(headings, *(_row(name, way, dtype, s.scores, allowed) for dtype in DTYPES for name, way in WAYS)),
    )


def _row(
    name: Message | str, way: Callable[[Tensor, Tensor], Tensor], dtype: torch.dtype, scores: Tensor, allowed: Tensor
) -> tuple[Message | str, ...]:
    short = str(dtype).removeprefix("torch.")
    try:
        weights = way(scores.to(dtype), allowed).float()
    except RuntimeError as error:
        return short, name, Message("error: {what}", {"what": str(error)}), "–"
    leak = f"{Rounded(leaked_share(weights[1:], allowed[1:])):.3g}" if len(weights) > 1 else "–"
    return short, name, _empty_row(weights[0]), leak


def leaked_share(weights: Tensor, allowed: Tensor) -> float:
    """The most that a row gives to keys that it may not see."""
    return float(weights.masked_fill(allowed, 0.0).sum(-1).max())


def _empty_row(row: Tensor) -> Message:
    if bool(row.isnan().any()):
        return Message("NaN")
    if float(row.sum()) == 0:
        return Message("zeros")
    if float(row.max() - row.min()) < 1e-6:
        return Message("uniform: {share:.3f} each", {"share": float(row[0])})
    return Message("not even: up to {share:.3f}", {"share": float(row.max())})


NO_FUTURE = Message("With one word there is no future to hide, and both are the same.")


# Softmax first, mask afterwards.
def wrong_softmax_first(scores: Tensor, may_attend: Tensor) -> Tensor:
    weights = scores.softmax(-1)
    return weights * may_attend  # rows no longer sum to 1


def right_softmax_first(scores: Tensor, may_attend: Tensor) -> Tensor:
    return scores.masked_fill(~may_attend, -torch.inf).softmax(-1)


def run_softmax_first(s: Sentence) -> Outcome:
    causal = masks.causal(len(s))
    bad, good = wrong_softmax_first(s.scores, causal), right_softmax_first(s.scores, causal)
    if len(s) == 1:
        return compare_matrices(bad, good, s.words, NO_FUTURE, allowed=causal)
    least = int(bad.sum(-1).argmin())
    earlier = slice(len(s) - 1)
    changed = s.scores.clone()
    changed[:, -1] = changed[:, -1].flip(0) + 3.0  # another last word: other scores in its column
    moved_bad, moved_good = (
        largest_gap(way(changed, causal)[earlier], original[earlier])
        for way, original in ((wrong_softmax_first, bad), (right_softmax_first, good))
    )
    return compare_matrices(
        bad,
        good,
        s.words,
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
        allowed=causal,
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


def run_before_scaling(s: Sentence) -> Outcome:
    causal = masks.causal(len(s))
    mask = additive(causal, SHOWN_FILL)
    bad, good = wrong_before_scaling(s.q, s.k, mask), right_before_scaling(s.q, s.k, mask)
    distance = torch.arange(len(s))[:, None] - torch.arange(len(s))
    alibi = (-0.5 * distance).masked_fill(distance < 0, -torch.inf)  # minus slope times distance, -inf for the future
    ways = (wrong_before_scaling, right_before_scaling)
    headings = (Message("fill"), Message("leak, added before scaling"), Message("leak, added after"))
    rows = [
        (f"{fill:g}", *(f"{Rounded(leaked_share(way(s.q, s.k, additive(causal, fill)), causal)):.3g}" for way in ways))
        for fill in FILLS
    ]
    if len(s) == 1:
        return compare_matrices(bad, good, s.words, NO_FUTURE, table=(headings, *rows))
    return compare_matrices(
        bad,
        good,
        s.words,
        Message(
            "A fill of {fill:.0f} becomes {divided:.1f} when it is divided by sqrt({d}): {word} gives {bad:.1%} to "
            "the future instead of {good:.2%}.",
            {
                "fill": SHOWN_FILL,
                "divided": SHOWN_FILL / math.sqrt(WIDTH),
                "d": WIDTH,
                "word": s.words[0],
                "bad": leaked_share(bad[:1], causal[:1]),
                "good": leaked_share(good[:1], causal[:1]),
            },
        ),
        Message(
            "With -inf there is nothing to shrink and both agree. A position bias is a mask of small numbers, and "
            "never safe: with ALiBi (slope 0.5) a weight is off by {gap:.3f}.",
            {"gap": largest_gap(*(way(s.q, s.k, alibi) for way in ways))},
        ),
        table=(headings, *rows),
    )


def additive(allowed: Tensor, fill: float) -> Tensor:
    """0 where a query may attend, `fill` elsewhere."""
    return torch.zeros(allowed.shape).masked_fill(~allowed, fill)


# A mask that a function accepts and ignores.
def wrong_ignored_mask(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if mask is not None:
        scores.masked_fill(~mask, -torch.inf)  # returns a new tensor, which is not kept
    return scores.softmax(-1)


def right_ignored_mask(q: Tensor, k: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.T / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1)


def run_ignored_mask(s: Sentence) -> Outcome:
    causal = masks.causal(len(s))
    bad, good = wrong_ignored_mask(s.q, s.k, causal), right_ignored_mask(s.q, s.k, causal)
    forbidden = bad.masked_fill(causal, 0.0)
    if len(s) == 1:
        return compare_matrices(bad, good, s.words, NO_FUTURE, allowed=causal)
    return compare_matrices(
        bad,
        good,
        s.words,
        Message(
            "{word} gives {share:.0%} of its attention to words it may not see; over all rows {mean:.0%}. "
            "With and without the mask the result is the same.",
            {
                "word": s.words[0],
                "share": float(forbidden[0].sum()),
                "mean": float(forbidden.sum(-1).mean()),
            },
        ),
        allowed=causal,
    )
