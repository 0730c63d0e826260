"""What to write where the mask hides: minus infinity, a billion, or the dtype's minimum."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.runs.traps.trap import Outcome, Trap, largest_gap, picture
from attnviz.runs.word_vectors import Sentence


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


def run(s: Sentence) -> Outcome:
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


TRAP = Trap(
    "fill",
    Message("-1e9, -inf, or the lowest number"),
    Message(
        "A hidden cell should weigh exactly nothing. A large negative number does that until a whole row is hidden "
        "or the dtype is too narrow for it; -inf does it until a row is all -inf, and then 0/0 is NaN."
    ),
    (billion_written, minimum_added_twice, infinity_written),
    (ours,),
    run,
)
